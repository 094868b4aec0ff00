//! The shell of every page: head, navigation, theme, footer.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::pot_bar;

/// What the reader chose; without a choice the system's setting counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    Light,
    Dark,
}

impl Theme {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "light" => Some(Self::Light),
            "dark" => Some(Self::Dark),
            _ => None,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// How a link to the page looks where it is shared.
#[derive(Debug, Clone)]
pub struct Share<'a> {
    /// The address of the server, without a slash at its end.
    pub base: &'a str,
    pub picture: Option<Picture>,
}

/// A picture for links.
#[derive(Debug, Clone)]
pub struct Picture {
    /// With its query.
    pub path: String,
    pub alt: String,
    /// Width and height in pixels.
    pub size: [u32; 2],
}

/// What the shell of one page depends on.
#[derive(Debug, Clone, Copy)]
pub struct Shell<'a> {
    /// Of the server.
    pub name: &'a str,
    pub title: &'a str,
    pub description: &'a str,
    /// The page's own path.
    pub path: &'a str,
    /// `None` for pages that nobody shares.
    pub share: Option<&'a Share<'a>>,
    /// The same with its query, to come back to.
    pub back: &'a str,
    pub css: &'a str,
    pub script: &'a str,
    pub theme: Option<Theme>,
    /// The speed of Arena time, when it is not that of real time.
    pub clock_speed: Option<&'a str>,
    /// Names and paths of the navigation.
    pub links: &'a [(&'a str, &'a str)],
    /// Read by a client that asks what went wrong.
    pub request_id: Option<&'a str>,
}

impl Shell<'_> {
    /// The whole document around `main`, which is markup already.
    pub fn page(&self, main: &str) -> String {
        let full_title = if self.title == self.name {
            self.name.to_owned()
        } else {
            format!("{} · {}", self.title, self.name)
        };
        let page = html! {
            (DOCTYPE)
            html lang="en" data-theme=[self.theme.map(Theme::as_str)] {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (full_title) }
                    meta name="description" content=(self.description);
                    @if let Some(share) = self.share { (self.preview(share)) }
                    meta name="color-scheme" content="light dark";
                    link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                    link rel="alternate" type="application/atom+xml" title=(self.name) href="/feed.atom";
                    link rel="alternate" type="application/feed+json" title=(self.name) href="/feed.json";
                    link rel="stylesheet" href=(self.css);
                    script src=(self.script) defer {}
                }
                body {
                    a class="skip" href="#main" { "Skip to content" }
                    (self.header())
                    @if let Some(speed) = self.clock_speed {
                        p class="clock" { "The clock of this arena runs at " (speed) " × real time." }
                    }
                    (pot_bar::hatch())
                    main id="main" { (PreEscaped(main)) }
                    footer {
                        p { "What agents say is theirs, quoted as untrusted text. " a href="/docs" { "Documentation" } " · " a href="/llms.txt" { "llms.txt" } " · " a href="/openapi.json" { "OpenAPI" } " · " a href="/feed.atom" { "Atom" } }
                        @if let Some(id) = self.request_id { p class="muted" { "Request " code { (id) } } }
                    }
                }
            }
        };
        page.into_string()
    }

    fn preview(&self, share: &Share<'_>) -> Markup {
        let Share { base, picture } = share;
        html! {
            meta property="og:type" content="website";
            meta property="og:site_name" content=(self.name);
            meta property="og:title" content=(self.title);
            meta property="og:description" content=(self.description);
            meta property="og:url" content={ (base) (self.path) };
            @match picture {
                Some(Picture { path, alt, size: [width, height] }) => {
                    meta property="og:image" content={ (base) (path) };
                    meta property="og:image:type" content="image/png";
                    meta property="og:image:width" content=(width);
                    meta property="og:image:height" content=(height);
                    meta property="og:image:alt" content=(alt);
                    meta name="twitter:card" content="summary_large_image";
                }
                None => { meta name="twitter:card" content="summary"; }
            }
        }
    }

    fn header(&self) -> Markup {
        html! {
            header class="top" {
                a class="brand" href="/" { (self.name) }
                nav aria-label="Main" {
                    @for (name, path) in self.links {
                        a href=(path) aria-current=[(*path == self.path).then_some("page")] { (name) }
                    }
                }
                form method="post" action="/theme" {
                    input type="hidden" name="back" value=(self.back);
                    // The style sheet hides the one that is on, which only it knows without a choice.
                    button name="to" value=(Theme::Light.as_str()) { "Light" }
                    button name="to" value=(Theme::Dark.as_str()) { "Dark" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_stays_text() {
        let shell = Shell {
            name: "Arena",
            title: "</title><script>x</script>",
            description: "\"><img src=x>",
            path: "/\"><b>",
            share: Some(&Share {
                base: "https://arena.example",
                picture: Some(Picture {
                    path: "/card.png?v=\"><s>".to_owned(),
                    alt: "\"><em>".to_owned(),
                    size: [1200, 630],
                }),
            }),
            back: "/\"><b>",
            css: "/c",
            script: "/s",
            theme: Some(Theme::Dark),
            clock_speed: Some("<i>60"),
            links: &[("Home", "/")],
            request_id: Some("<u>"),
        };
        let page = shell.page("<p>ours</p>");
        for tag in ["<script>x", "<img", "<b>", "<i>", "<u>", "<s>", "<em>"] {
            assert!(!page.contains(tag), "{tag} in {page}");
        }
        assert!(page.contains("<p>ours</p>") && page.contains("data-theme=\"dark\""));
    }
}

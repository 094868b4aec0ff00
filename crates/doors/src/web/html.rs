//! Escaping, and the shell of every page. No script, no inline style, no request to anyone else.

/// The content security policy of every page.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Text that may stand in an element or a quoted attribute.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A page in two parts, between which a note about the clock may be put when it is served.
pub(super) struct Html {
    pub(super) head: String,
    pub(super) rest: String,
}

/// `main` is HTML already.
pub(super) fn page(title: &str, description: &str, main: &str) -> Html {
    let (title, description) = (escape(title), escape(description));
    Html {
        head: format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<meta name=\"description\" content=\"{description}\">\n\
             <link rel=\"stylesheet\" href=\"/assets/docs.css\">\n</head>\n<body>\n"
        ),
        rest: format!("<main>\n{main}</main>\n</body>\n</html>\n"),
    }
}

/// The note that Arena time runs at another speed.
pub(super) fn clock_note(speed: &str) -> String {
    format!("<p class=\"clock\">The clock of this arena runs at {} × real time.</p>\n", escape(speed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_text_stays_text() {
        let page = page("</title><script>", "\"><b>", "<p>ours</p>");
        assert!(page.head.contains("<title>&lt;/title&gt;&lt;script&gt;</title>"));
        assert!(page.head.contains("content=\"&quot;&gt;&lt;b&gt;\""));
        assert_eq!(escape("a'b&amp;"), "a&#39;b&amp;amp;");
    }
}

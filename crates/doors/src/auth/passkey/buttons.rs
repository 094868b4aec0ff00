//! The buttons and forms of passkeys. They are hidden until a script finds that the browser can; whoever has no
//! script reads that a password works without one.

use http::request::Parts;
use identity::passkeys::{LABEL_CHARS_MAX, PasskeyInfo};
use kernel::Moment;
use look::{Markup, ago, html};

use super::{
    ceremony::{Place, place},
    own::FIRST_LABEL,
};
use crate::{
    auth::{
        Auth,
        browser::Browser,
        page::{self, with_back},
    },
    web::assets,
};

/// A form whose script asks at `begin`; `fields` are between what every such form has and its button.
fn ceremony(action: &str, class: &str, browser: &Browser, fields: &Markup, button: &Markup) -> Markup {
    html! {
        form class=(class) method="post" action={ (action) "/finish" } data-passkey={ (action) "/begin" } hidden {
            (page::token(browser))
            input type="hidden" name="ticket";
            input type="hidden" name="answer";
            (fields)
            (button)
            p class="problem" role="alert" hidden {}
        }
        p class="muted" data-no-passkeys { "Passkeys need JavaScript, and a browser that has them; passwords work without." }
        script src=(assets::paths().passkeys) defer {}
    }
}

/// On the page to sign in.
pub(in crate::auth) fn to_enter(auth: &Auth, parts: &Parts, browser: &Browser, back: &str) -> Markup {
    let party = match place(auth, parts) {
        Place::Here(_) => None,
        Place::Elsewhere(party) => Some(party),
        Place::Nowhere => return html! {},
    };
    if let Some(party) = party {
        let there = format!("{}{}", party.address(), with_back("/sign-in", back));
        return html! { p { "Have a passkey? " a href=(there) { "Sign in at " (party.address()) } "." } };
    }
    let fields = html! { input type="hidden" name="back" value=(back); };
    let button = html! { button class="main wide" { "Sign in with a passkey" } };
    ceremony("/sign-in/passkey", "", browser, &fields, &button)
}

/// On the page to sign up.
pub(in crate::auth) fn to_join(
    auth: &Auth,
    parts: &Parts,
    browser: &Browser,
    back: &str,
    nickname: &str,
) -> Markup {
    let Place::Here(_) = place(auth, parts) else { return html! {} };
    let fields = html! {
        input type="hidden" name="back" value=(back);
        label { "Nickname" input name="nickname" value=(nickname) autocomplete="username" autocapitalize="none" spellcheck="false" minlength="3" maxlength="30" required; }
    };
    let button = html! { button class="main" { "Join with a passkey" } };
    ceremony("/sign-up/passkey", "card", browser, &fields, &button)
}

/// On the page of the account.
pub(in crate::auth) fn own(
    auth: &Auth,
    parts: &Parts,
    browser: &Browser,
    passkeys: &[PasskeyInfo],
    now: Moment,
) -> Markup {
    html! {
        @if !passkeys.is_empty() { (list(browser, passkeys, now)) }
        @match place(auth, parts) {
            Place::Here(_) => (to_add(browser)),
            Place::Elsewhere(party) => p class="muted" {
                "Passkeys need a name instead of an IP address. Add and use them at "
                a href={ (party.address()) "/account" } { (party.address()) } "."
            },
            Place::Nowhere => p class="muted" {
                "Passkeys need a name such as localhost, or a domain with https; this server's address is none."
            },
        }
    }
}

fn to_add(browser: &Browser) -> Markup {
    let fields = html! {
        label { "Name of the new passkey" input name="label" value=(FIRST_LABEL) maxlength=(LABEL_CHARS_MAX) autocomplete="off" required; }
    };
    let button = html! { button class="main" { "Add a passkey" } };
    ceremony("/account/passkey", "card", browser, &fields, &button)
}

fn list(browser: &Browser, passkeys: &[PasskeyInfo], now: Moment) -> Markup {
    html! {
        table class="rows" {
            thead { tr { th { "passkey" } th { "made" } th { "last used" } th { span class="unseen" { "remove" } } } }
            tbody {
                @for passkey in passkeys {
                    tr {
                        td {
                            details {
                                summary { bdi { (passkey.label) } }
                                form class="card" method="post" action="/account/passkey-name" {
                                    (page::token(browser))
                                    input type="hidden" name="id" value=(passkey.id);
                                    label { "Another name" input name="label" value=(passkey.label) maxlength=(LABEL_CHARS_MAX) autocomplete="off" required; }
                                    button { "Rename" }
                                }
                            }
                        }
                        td data-th="made" { (ago(passkey.made_at, now)) }
                        td data-th="last used" { @match passkey.used_at { Some(at) => (ago(at, now)), None => "never" } }
                        td class="num" {
                            form method="post" action="/account/passkey-remove" {
                                (page::token(browser))
                                input type="hidden" name="id" value=(passkey.id);
                                button { "Remove" }
                            }
                        }
                    }
                }
            }
        }
    }
}

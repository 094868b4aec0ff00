//! Escaping for the page that is written by hand, and the policy of every page. No inline script or
//! style, no request to anyone else.

/// The content security policy of every page.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The policy of a page whose forms may lead on to other addresses: browsers hold the redirect after a form
/// against the list as well.
pub(crate) fn policy(leads_to: &str) -> String {
    POLICY.replace("form-action 'self'", &format!("form-action 'self' {leads_to}"))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_text_stays_text() {
        assert_eq!(escape("a'b&amp;<i x=\"y\">"), "a&#39;b&amp;amp;&lt;i x=&quot;y&quot;&gt;");
    }
}

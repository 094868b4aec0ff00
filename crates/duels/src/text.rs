//! The texts of duels: which field, how long, and what to say when one is refused.

use kernel::text::{NICKNAME_RULE, clean, nickname};

use crate::{
    fault::DuelFault,
    rules::limits::{MODEL_KEY_CHARS, SOCIAL_URL_CHARS_MAX},
    tables::agents::Social,
};

fn refuse(message: String) -> DuelFault {
    DuelFault::Validation { message }
}

/// A text of 1 to `max` characters after normalisation and trimming.
pub(crate) fn words(field: &str, raw: &str, max: usize) -> Result<String, DuelFault> {
    clean(raw, 1, max).map_err(|fault| refuse(format!("{field} {fault}")))
}

/// A nickname in its normal form.
pub(crate) fn handle(raw: &str) -> Result<String, DuelFault> {
    nickname(raw).ok_or_else(|| refuse(format!("nickname cannot be one; a nickname is {NICKNAME_RULE}")))
}

/// A lower-case `provider/model` label: `^[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._:-]*$`.
pub(crate) fn model_key(raw: &str) -> Result<String, DuelFault> {
    let part = |text: &str, extra: &[u8]| {
        let ok = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        text.bytes().next().is_some_and(ok) && text.bytes().all(|b| ok(b) || extra.contains(&b))
    };
    let shaped =
        raw.split_once('/').is_some_and(|(provider, model)| part(provider, b"._-") && part(model, b"._:-"));
    if shaped && MODEL_KEY_CHARS.contains(&raw.len()) {
        Ok(raw.to_owned())
    } else {
        Err(refuse(
            "model_key is not a lower-case provider/model label of 3 to 100 characters; send one such as openai/gpt-5.4"
                .to_owned(),
        ))
    }
}

/// The hosts on which an owner may have a profile, with the provider's name and canonical address.
const PROFILES: [(&str, &str, &str); 4] = [
    ("github.com", "github", "https://github.com/"),
    ("threads.net", "threads", "https://www.threads.net/@"),
    ("t.me", "telegram", "https://t.me/"),
    ("x.com", "x", "https://x.com/"),
];

/// The canonical address of a stored profile.
pub(crate) fn profile_url(social: &Social) -> String {
    let base = PROFILES.iter().find(|(_, provider, _)| *provider == social.provider).map_or("", |row| row.2);
    format!("{base}{}", social.username)
}

fn is_username(provider: &str, name: &str) -> bool {
    let (max, extra): (usize, &[u8]) = match provider {
        "github" => (39, b"-"),
        "threads" => (30, b"._"),
        "telegram" => (32, b"_"),
        _ => (15, b"_"),
    };
    let min = if provider == "telegram" { 4 } else { 1 };
    (min..=max).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || extra.contains(&b))
}

/// First path segments that are pages of the site and nobody's profile.
const NOT_PROFILES: [&str; 14] = [
    "about", "explore", "hashtag", "home", "i", "intent", "joinchat", "login", "s", "search", "settings",
    "share", "signup", "topics",
];

/// One profile or channel on a known host, over HTTPS, without credentials or port.
pub(crate) fn social(raw: &str) -> Result<Social, DuelFault> {
    let text = words("social_url", raw, SOCIAL_URL_CHARS_MAX)?;
    let wrong = || {
        refuse(
            "social_url is not an https link to one profile on github.com, threads.net, t.me or x.com; send for example https://x.com/builder"
                .to_owned(),
        )
    };
    let url = url::Url::parse(&text).map_err(|_| wrong())?;
    let plain = url.scheme() == "https"
        && url.port().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    let (_, provider, _) = PROFILES.iter().find(|(known, _, _)| *known == host).ok_or_else(wrong)?;
    let mut segments = url.path().trim_end_matches('/').trim_start_matches('/').split('/');
    let (Some(segment), None) = (segments.next(), segments.next()) else { return Err(wrong()) };
    let name = if *provider == "threads" { segment.strip_prefix('@').ok_or_else(wrong)? } else { segment };
    let page = NOT_PROFILES.contains(&name.to_ascii_lowercase().as_str());
    if !plain || page || !is_username(provider, name) {
        return Err(wrong());
    }
    Ok(Social { provider: (*provider).to_owned(), username: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_keys_follow_their_pattern() {
        for good in ["openai/gpt-5.4", "a/b", "anthropic/claude-sonnet-4.6", "x-ai/grok:fast", "0/0"] {
            assert!(model_key(good).is_ok(), "{good}");
        }
        let long = format!("a/{}", "b".repeat(99));
        for bad in
            ["", "gpt", "OpenAI/gpt", "a/", "/b", "-a/b", "a/-b", "a/b/c", "a:b/c", "a/b c", " a/b", &long]
        {
            assert!(model_key(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn social_links_are_reduced_to_provider_and_name() {
        for (raw, provider, username, canonical) in [
            ("https://x.com/builder", "x", "builder", "https://x.com/builder"),
            ("https://www.x.com/Builder/?s=21#top", "x", "Builder", "https://x.com/Builder"),
            ("https://github.com/a-b", "github", "a-b", "https://github.com/a-b"),
            ("https://www.threads.net/@a.b_c", "threads", "a.b_c", "https://www.threads.net/@a.b_c"),
            ("https://t.me/channel_1", "telegram", "channel_1", "https://t.me/channel_1"),
        ] {
            let social = social(raw).unwrap();
            assert_eq!((social.provider.as_str(), social.username.as_str()), (provider, username), "{raw}");
            assert_eq!(profile_url(&social), canonical);
        }
        for bad in [
            "http://x.com/builder",
            "https://x.com",
            "https://x.com/",
            "https://x.com/a/status/1",
            "https://x.com/home",
            "https://x.com/search?q=a",
            "https://x.com:8443/builder",
            "https://user:pass@x.com/builder",
            "https://x.com.evil.example/builder",
            "https://evil.example/x.com",
            "https://threads.net/builder",
            "https://t.me/+invite",
            "https://t.me/joinchat",
            "https://x.com/a%2Fb",
            "https://x.com/<script>",
            "javascript:alert(1)",
            "x.com/builder",
        ] {
            assert!(social(bad).is_err(), "{bad}");
        }
    }
}

//! Every setting: its key, shape, default and meaning, in one table.
//!
//! The key `http.listen` is `listen` under `[http]` in the file and `ARENA_HTTP__LISTEN` in the
//! environment. Flags name their key where they are declared.

/// How the text of a variable becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    Whole,
    /// In a variable or flag: parts separated by commas.
    List,
}

#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) key: &'static str,
    pub(crate) shape: Shape,
    /// `None`: not set unless somebody sets it.
    pub(crate) default: Option<&'static str>,
    pub(crate) secret: bool,
    pub(crate) about: &'static str,
}

const fn text(key: &'static str, default: Option<&'static str>, about: &'static str) -> Setting {
    Setting { key, shape: Shape::Text, default, secret: false, about }
}

const fn secret(key: &'static str, about: &'static str) -> Setting {
    Setting { key, shape: Shape::Text, default: None, secret: true, about }
}

const fn whole(key: &'static str, default: &'static str, about: &'static str) -> Setting {
    Setting { key, shape: Shape::Whole, default: Some(default), secret: false, about }
}

const fn list(key: &'static str, about: &'static str) -> Setting {
    Setting { key, shape: Shape::List, default: Some(""), secret: false, about }
}

/// Where the main listener is when nobody chose.
pub(crate) const LISTEN_DEFAULT: &str = "127.0.0.1:7878";

pub(crate) const SETTINGS: &[Setting] = &[
    secret("api_key", "the key that client commands send"),
    text("server", None, "the server that client commands talk to, for example http://127.0.0.1:7878"),
    text(
        "avatars.dir",
        None,
        "where avatars are kept; several servers on one database share it [default: avatars in the data directory]",
    ),
    text("clock.speed", Some("1"), "how many seconds of Arena time pass in one real second"),
    secret("database.url", "a PostgreSQL URL; without one the data is in arena.db of the data directory"),
    whole("database.connections", "4", "connections that write, on PostgreSQL"),
    whole("duels.opening_points", "100", "points that a new agent starts with"),
    list("http.allowed_hosts", "more host names under which the server answers"),
    list("http.allowed_origins", "more browser origins that may call, for example https://inspector.example"),
    text("http.listen", Some(LISTEN_DEFAULT), "address and port of the main listener"),
    text(
        "http.public_url",
        None,
        "the URL that people reach the server under, when it is not the listener's",
    ),
    text("http.root_mcp", Some("duels"), "the product that answers under /mcp"),
    whole("http.drain_seconds", "10", "how long a stopping server waits for requests that it has accepted"),
    text("log.filter", None, "what is logged, for example info or arena=debug,warn"),
    text(
        "semantic.load",
        Some("on"),
        "on embeds texts here or at semantic.embed_url; off leaves search_agents unavailable",
    ),
    text(
        "semantic.embed_url",
        None,
        "an OpenAI-compatible endpoint that embeds in place of the built-in model, for example https://api.example/v1",
    ),
    text("semantic.embed_model", None, "the model that is asked for there"),
    text("semantic.embed_dims", None, "how many components its vectors have"),
    secret("semantic.embed_key", "the key that is sent there"),
    text(
        "semantic.chat_url",
        None,
        "an OpenAI-compatible endpoint that writes AUTO_BIO in place of the template",
    ),
    text("semantic.chat_model", None, "the model that is asked for there"),
    secret("semantic.chat_key", "the key that is sent there"),
    text(
        "semantic.model_dir",
        None,
        "a directory with the model's weights.npz and sp.model, instead of the built-in copy",
    ),
    text("metrics.listen", Some("127.0.0.1:9464"), "address and port of /metrics, or off"),
    text(
        "sign_in.local",
        Some("auto"),
        "on lets people sign in with a nickname here, off leaves other issuers and keys, auto is on when there is no other issuer",
    ),
    text(
        "sign_in.open",
        Some("on"),
        "on lets strangers become people by themselves; off leaves it to the operator",
    ),
    text(
        "sign_in.google_client_id",
        None,
        "lets people sign in with Google; the callback there is PUBLIC_URL/oauth/callback/google",
    ),
    secret("sign_in.google_client_secret", "the secret that belongs to it"),
    text("sign_in.google_issuer", Some(upstream::GOOGLE_ISSUER), "what Google calls itself"),
    text(
        "sign_in.github_client_id",
        None,
        "lets people sign in with GitHub; the callback there is PUBLIC_URL/oauth/callback/github",
    ),
    secret("sign_in.github_client_secret", "the secret that belongs to it"),
    text(
        "sign_in.github_url",
        Some(upstream::GITHUB_BASE),
        "the address of GitHub, or of an enterprise's own",
    ),
    text(
        "sign_in.github_api_url",
        Some(upstream::GITHUB_API),
        "its API, for an enterprise's own under /api/v3",
    ),
    text(
        "sign_in.apple_client_id",
        None,
        "lets people sign in with Apple; the callback there is PUBLIC_URL/oauth/callback/apple",
    ),
    text("sign_in.apple_team_id", None, "the team that it belongs to"),
    text("sign_in.apple_key_id", None, "the number of the private key"),
    secret("sign_in.apple_private_key", "the content of the .p8 file"),
    text(
        "sign_in.oidc_issuer",
        None,
        "an OpenID Connect issuer that people may sign in with, exactly as it calls itself",
    ),
    text(
        "sign_in.oidc_client_id",
        None,
        "what this server is called there; the callback is PUBLIC_URL/oauth/callback/oidc:NAME",
    ),
    secret("sign_in.oidc_client_secret", "the secret that belongs to it"),
    text("sign_in.oidc_name", Some("house"), "NAME, which accounts there are kept under: it never changes"),
    text("sign_in.oidc_title", None, "what its button says [default: the name]"),
];

/// The setting with this key.
pub(crate) fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// The variable that sets `key`.
pub(crate) fn variable(key: &str) -> String {
    format!("ARENA_{}", key.to_ascii_uppercase().replace('.', "__"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file may hold is what is explained, and the other way round: both lists are of the same keys.
    #[test]
    fn every_field_of_the_configuration_is_a_setting() {
        let sections: std::collections::BTreeSet<&str> =
            SETTINGS.iter().filter_map(|setting| Some(setting.key.split_once('.')?.0)).collect();
        let expected = |text: &str| -> std::collections::BTreeSet<String> {
            let figment = figment::Figment::new();
            let figment =
                figment.merge(<figment::providers::Toml as figment::providers::Format>::string(text));
            let told = figment.extract::<super::super::model::Config>().unwrap_err().to_string();
            let (_, names) = told.split_once("expected ").unwrap_or_else(|| panic!("{told}"));
            let name =
                |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            names.split('`').filter(name).map(str::to_owned).collect()
        };
        let tops = SETTINGS.iter().map(|setting| setting.key.split('.').next().unwrap().to_owned()).collect();
        assert_eq!(expected("nothing_of_ours = 1"), tops);
        for section in sections {
            let known = SETTINGS
                .iter()
                .filter_map(|setting| setting.key.strip_prefix(section)?.strip_prefix('.'))
                .map(str::to_owned)
                .collect();
            assert_eq!(expected(&format!("[{section}]\nnothing_of_ours = 1")), known, "{section}");
        }
    }

    #[test]
    fn keys_are_unique_plain_and_explained() {
        for (index, setting) in SETTINGS.iter().enumerate() {
            assert!(SETTINGS[..index].iter().all(|other| other.key != setting.key), "{}", setting.key);
            assert!(setting.key.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'_'));
            assert!(!setting.about.is_empty() && !setting.about.ends_with('.'), "{}", setting.key);
        }
        assert_eq!(variable("http.root_mcp"), "ARENA_HTTP__ROOT_MCP");
    }
}

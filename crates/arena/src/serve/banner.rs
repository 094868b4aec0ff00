//! What a person reads when the server starts: every address, and what to do next.

use serde::Serialize;

use crate::config::speed::Speed;

/// An address with its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Link {
    pub(crate) name: &'static str,
    pub(crate) url: String,
}

/// The addresses of a server under `base`, which has no slash at its end.
pub(crate) fn links(base: &str) -> Vec<Link> {
    [
        ("home", "/"),
        ("docs", "/docs"),
        ("MCP", "/duels/mcp"),
        ("OpenAPI", "/openapi.json"),
        ("settled duels", "/duels/v1/settled"),
        ("health", "/healthz"),
    ]
    .map(|(name, path)| Link { name, url: format!("{base}{path}") })
    .into()
}

/// The banner of `arena serve`.
pub(crate) fn text(base: &str, metrics: Option<&str>, data: &str, speed: Speed, first_key: &str) -> String {
    let mut lines = vec![concat!("Arena ", env!("CARGO_PKG_VERSION")).to_owned()];
    let mut row = |name: &str, value: &str| lines.push(format!("  {name:<14} {value}"));
    for link in links(base) {
        row(link.name, &link.url);
    }
    row("metrics", metrics.unwrap_or("off"));
    row("data", data);
    if speed.milli() != kernel::time::SPEED_REAL_MILLI {
        row("clock", &format!("{speed} times as fast as real time"));
    }
    row("a first key", first_key);
    lines.join("\n")
}

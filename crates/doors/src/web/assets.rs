//! Style sheet and scripts under names that change with their content, so that caches keep them for good.

use std::sync::LazyLock;

use kernel::id::hex;
use sha2::{Digest, Sha256};

pub(crate) struct Paths {
    pub(crate) css: String,
    pub(crate) script: String,
    pub(crate) passkeys: String,
}

/// Where they are.
pub(crate) fn paths() -> &'static Paths {
    static PATHS: LazyLock<Paths> = LazyLock::new(|| Paths {
        css: named("arena", "css", look::CSS),
        script: named("arena", "js", look::SCRIPT),
        passkeys: named("passkeys", "js", look::PASSKEYS_SCRIPT),
    });
    &PATHS
}

fn named(stem: &str, ending: &str, content: &str) -> String {
    format!("/assets/{stem}-{}.{ending}", hex(&Sha256::digest(content)[..6]))
}

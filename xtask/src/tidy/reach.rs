//! Who may name which third-party crate: engines stay in the store, protocols at the doors.

use super::{Rust, Tracked, Violation, layers::Manifest, source::has_word};

const RULE: &str = "reach";

/// Crates by name, where they may be named, and why.
struct Reach {
    crates: &'static [&'static str],
    places: &'static [&'static str],
    advice: &'static str,
}

const REACHES: [Reach; 2] = [
    Reach {
        crates: &["rusqlite", "libsqlite3-sys", "tokio-postgres", "tokio-postgres-rustls"],
        places: &["crates/store/", "crates/testkit/", "benches/"],
        advice: "only the store knows an engine; write SQL against kernel::tx::Tx",
    },
    Reach {
        crates: &["axum", "rmcp"],
        places: &["crates/doors/", "crates/arena/", "benches/"],
        advice: "only doors and the binary know a protocol; products answer through operations",
    },
];

pub(super) fn check_manifests(files: &[Tracked]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.path != "Cargo.toml") {
        let Some(manifest) = Manifest::read(file) else { continue };
        for dependency in &manifest.dependencies {
            for reach in REACHES.iter().filter(|reach| reach.crates.contains(&dependency.name.as_str())) {
                if !file.is_under(reach.places) {
                    let advice = format!("`{}` may not be used here: {}", dependency.name, reach.advice);
                    violations.push(Violation::new(&file.path, dependency.line, RULE, advice));
                }
            }
        }
    }
    violations
}

pub(super) fn check_code(files: &[Rust<'_>]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for Rust { file, source } in files {
        for reach in REACHES.iter().filter(|reach| !file.is_under(reach.places)) {
            for name in reach.crates {
                let path = format!("{}::", name.replace('-', "_"));
                for (line, _) in source.code().filter(|(_, code)| has_word(code, &path)) {
                    let advice = format!("`{name}` may not be named here: {}", reach.advice);
                    violations.push(Violation::new(&file.path, line, RULE, advice));
                }
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::{
        super::{rust, sample},
        *,
    };

    #[test]
    fn an_engine_in_a_product_is_refused() {
        let bad = sample("crates/duels/src/store.rs", "//! x\nuse rusqlite::Connection;\n");
        assert_eq!(check_code(&[rust(&bad)])[0].line, 2);
        let good = sample("crates/store/src/sqlite.rs", "use rusqlite::Connection;");
        let only_words = sample("crates/duels/src/store.rs", "// rusqlite::x\nlet a = \"rusqlite::x\";");
        assert!(check_code(&[rust(&good), rust(&only_words)]).is_empty());
    }

    #[test]
    fn a_protocol_in_a_manifest_of_a_product_is_refused() {
        let text = "[package]\nname = \"duels\"\n[dependencies]\naxum.workspace = true\n";
        assert_eq!(check_manifests(&[sample("crates/duels/Cargo.toml", text)])[0].line, 4);
        assert!(check_manifests(&[sample("crates/doors/Cargo.toml", text)]).is_empty());
    }
}

//! Which crate of the workspace may depend on which: arrows point down only.
//!
//! Cargo refuses cycles; it does not refuse a product that leans on a door. A manifest is read as
//! lines, in the shape that this workspace writes them (`name.workspace = true` and tables).

use super::{Tracked, Violation};

const RULE: &str = "layers";

/// A crate, what it may depend on, and what its tests may use besides.
struct Layer {
    name: &'static str,
    below: &'static [&'static str],
    tests: &'static [&'static str],
}

const LAYERS: [Layer; 20] = [
    Layer { name: "kernel", below: &[], tests: &[] },
    Layer { name: "store", below: &["kernel"], tests: &["testkit"] },
    Layer { name: "identity", below: &["kernel", "store"], tests: &["testkit"] },
    Layer { name: "look", below: &["kernel"], tests: &[] },
    Layer { name: "cards", below: &["kernel", "look"], tests: &[] },
    Layer { name: "export", below: &["kernel"], tests: &[] },
    Layer { name: "net", below: &[], tests: &[] },
    Layer { name: "pictures", below: &[], tests: &[] },
    Layer { name: "semantic", below: &[], tests: &[] },
    Layer { name: "openai", below: &["semantic"], tests: &[] },
    Layer { name: "passkeys", below: &["kernel"], tests: &["testkit"] },
    Layer { name: "upstream", below: &["kernel"], tests: &["testkit"] },
    Layer { name: "semantic-model", below: &["semantic"], tests: &[] },
    Layer { name: "duels", below: &["kernel", "store", "semantic", "look"], tests: &["identity", "testkit"] },
    Layer { name: "predictions", below: &["kernel", "store"], tests: &["identity", "testkit"] },
    Layer { name: "doors", below: &["kernel", "store", "identity", "look", "passkeys"], tests: &["testkit"] },
    Layer {
        name: "arena",
        below: &[
            "kernel",
            "store",
            "identity",
            "cards",
            "export",
            "net",
            "openai",
            "pictures",
            "semantic",
            "semantic-model",
            "upstream",
            "duels",
            "doors",
        ],
        tests: &["testkit"],
    },
    Layer { name: "testkit", below: &["kernel", "store", "identity", "semantic"], tests: &[] },
    Layer {
        name: "bench",
        below: &[
            "kernel",
            "store",
            "identity",
            "pictures",
            "semantic",
            "semantic-model",
            "duels",
            "predictions",
            "doors",
            "arena",
            "testkit",
        ],
        tests: &[],
    },
    Layer { name: "xtask", below: &[], tests: &[] },
];

/// A manifest's name and dependencies.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) only_tests: bool,
}

impl Manifest {
    /// Reads a file if it is a manifest.
    pub(super) fn read(file: &Tracked) -> Option<Self> {
        if !file.path.ends_with("Cargo.toml") {
            return None;
        }
        let mut manifest = Self::default();
        let mut table = String::new();
        for (index, line) in file.text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some(name) = line.strip_prefix('[') {
                name.trim_end_matches(']').trim().clone_into(&mut table);
                if let Some((kind, name)) = split_table(&table) {
                    manifest.add(name, kind, index + 1);
                }
                continue;
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let key = key.trim().split('.').next().unwrap_or_default().trim_matches('"');
            if table == "package" && key == "name" {
                value.trim().trim_matches('"').clone_into(&mut manifest.name);
            }
            if is_dependencies(&table) {
                manifest.add(key, &table, index + 1);
            }
        }
        Some(manifest)
    }

    fn add(&mut self, name: &str, table: &str, line: usize) {
        let only_tests = table.ends_with("dev-dependencies");
        self.dependencies.push(Dependency { name: name.to_owned(), line, only_tests });
    }
}

fn is_dependencies(table: &str) -> bool {
    table
        .rsplit('.')
        .next()
        .is_some_and(|last| matches!(last, "dependencies" | "dev-dependencies" | "build-dependencies"))
}

/// Reads a table such as `dependencies.axum`.
fn split_table(table: &str) -> Option<(&str, &str)> {
    table.rsplit_once('.').filter(|(kind, _)| is_dependencies(kind))
}

pub(super) fn check(files: &[Tracked]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some(manifest) = Manifest::read(file).filter(|manifest| !manifest.name.is_empty()) else {
            continue;
        };
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == manifest.name) else {
            let advice = format!("`{}` has no layer: add it to xtask/src/tidy/layers.rs", manifest.name);
            violations.push(Violation::new(&file.path, 1, RULE, advice));
            continue;
        };
        for dependency in &manifest.dependencies {
            let ours = LAYERS.iter().any(|layer| layer.name == dependency.name);
            let below = layer.below.contains(&dependency.name.as_str());
            let tests = dependency.only_tests && layer.tests.contains(&dependency.name.as_str());
            if ours && !below && !tests {
                let advice = format!(
                    "`{}` may not depend on `{}`: move what both need down, or pass it in from the binary",
                    manifest.name, dependency.name
                );
                violations.push(Violation::new(&file.path, dependency.line, RULE, advice));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::{super::sample, *};

    fn manifest(name: &str, rest: &str) -> Tracked {
        sample(&format!("crates/{name}/Cargo.toml"), &format!("[package]\nname = \"{name}\"\n{rest}"))
    }

    #[test]
    fn an_arrow_that_points_up_is_refused() {
        let bad = [
            manifest("doors", "[dependencies]\nduels.workspace = true\n"),
            manifest("duels", "[dependencies.doors]\nworkspace = true\n"),
            manifest("store", "[target.'cfg(unix)'.dependencies]\nidentity = { path = \"x\" }\n"),
            manifest("identity", "[dependencies]\ntestkit.workspace = true\n"),
        ];
        for file in bad {
            assert_eq!(check(&[file]).len(), 1);
        }
    }

    #[test]
    fn arrows_down_and_test_tools_are_fine() {
        let good = [
            manifest(
                "duels",
                "[dependencies]\nkernel.workspace = true\nserde.workspace = true\n[dev-dependencies]\ntestkit.workspace = true\n",
            ),
            manifest("arena", "[dependencies]\nduels.workspace = true\n"),
        ];
        assert_eq!(check(&good), []);
    }

    #[test]
    fn a_new_crate_needs_a_layer() {
        assert_eq!(check(&[manifest("unheard-of", "")]).len(), 1);
    }
}

//! The graph of crates that Cargo resolved for this machine: licences, doubles, banned ones, count.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Violation, licence::is_accepted};

const RULE: &str = "graph";
const LOCK: &str = "Cargo.lock";
/// Building the binary must compile fewer crates than this.
pub(super) const CRATES_LIMIT: usize = 500;
const BINARY: &str = "arena";
/// Two versions of one of these in a process do not see each other's types, or double the build.
const SINGLE: [&str; 8] = ["tokio", "hyper", "http", "axum", "reqwest", "rustls", "serde", "libsqlite3-sys"];
/// Second cryptography libraries (C builds, another set of certificates to trust), dozens of crates for one
/// file format, and a client of PostgreSQL that panics inside a runtime.
const BANNED: [(&str, &str); 5] = [
    ("openssl-sys", "choose features that use rustls with ring"),
    ("native-tls", "choose features that use rustls with ring"),
    ("aws-lc-sys", "choose features that use rustls with ring"),
    ("arrow-array", "write Parquet with the low-level writer, without its feature arrow"),
    ("postgres", "use tokio-postgres on a thread of the store"),
];

/// How many crates are built.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// For the binary alone, with build scripts and macros.
    pub(super) binary: usize,
    /// For the whole workspace, with tests and benches.
    pub(super) workspace: usize,
}

pub(super) fn check(metadata: &Value) -> Result<(Counts, Vec<Violation>), String> {
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"]["nodes"])?
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"])?
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let mut violations = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut binary = None;
    for package in list(&metadata["packages"])? {
        let (Some(name), Some(version), Some(id)) =
            (package["name"].as_str(), package["version"].as_str(), package["id"].as_str())
        else {
            return Err("cargo metadata lists a package without a name, a version or an id".to_owned());
        };
        if !nodes.contains_key(id) {
            continue;
        }
        versions.entry(name).or_default().push(version);
        if name == BINARY && package["source"].is_null() {
            binary = Some(id);
        }
        let licence = package["license"].as_str().unwrap_or_default();
        if !is_accepted(licence) {
            let advice =
                format!("{name} {version} is under `{licence}`, which is not accepted: use another crate");
            violations.push(Violation::new(LOCK, 1, RULE, advice));
        }
    }
    for name in SINGLE {
        if let Some(found) = versions.get(name).filter(|found| found.len() > 1) {
            let advice =
                format!("{name} is there {} times ({}): agree on one version", found.len(), found.join(", "));
            violations.push(Violation::new(LOCK, 1, RULE, advice));
        }
    }
    for (name, instead) in BANNED.iter().filter(|(name, _)| versions.contains_key(name)) {
        let advice = format!("{name} is banned: {instead}");
        violations.push(Violation::new(LOCK, 1, RULE, advice));
    }
    let binary = built(binary.ok_or("cargo metadata does not list the binary")?, &nodes, &packages);
    if binary >= CRATES_LIMIT {
        let advice = format!(
            "the binary builds {binary} crates, not fewer than {CRATES_LIMIT}: drop a dependency or a feature"
        );
        violations.push(Violation::new(LOCK, 1, RULE, advice));
    }
    Ok((Counts { binary, workspace: nodes.len() }, violations))
}

/// The crates reached from one by normal and build dependencies.
fn built(from: &str, nodes: &BTreeMap<&str, &Value>, packages: &BTreeMap<&str, &Value>) -> usize {
    let mut reached = BTreeSet::from([from]);
    let mut next = vec![from];
    while let Some(id) = next.pop() {
        let Some(node) = nodes.get(id) else { continue };
        for edge in node["deps"].as_array().into_iter().flatten().filter(|edge| is_built(edge)) {
            let Some(to) = edge["pkg"].as_str() else { continue };
            let used = packages.get(id).is_none_or(|package| is_used(package, node, edge, packages.get(to)));
            if used && reached.insert(to) {
                next.push(to);
            }
        }
    }
    reached.len()
}

fn is_built(dependency: &Value) -> bool {
    dependency["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"] != "dev"))
}

/// Cargo also lists optional crates that a feature would only extend (`name?/feature`) and that nobody
/// switched on; it does not build them.
fn is_used(package: &Value, node: &Value, edge: &Value, to: Option<&&Value>) -> bool {
    let on: Vec<&str> = node["features"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let brought: Vec<&str> = on
        .iter()
        .flat_map(|feature| package["features"][*feature].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .filter(|value| !value.contains('?'))
        .map(|value| value.strip_prefix("dep:").unwrap_or(value))
        .map(|value| value.split('/').next().unwrap_or(value))
        .collect();
    let mut named = false;
    for entry in package["dependencies"].as_array().into_iter().flatten() {
        let (name, rename) = (entry["name"].as_str(), entry["rename"].as_str());
        let same = match rename {
            Some(rename) => edge["name"] == rename.replace('-', "_"),
            None => name.is_some() && name == to.and_then(|to| to["name"].as_str()),
        };
        if !same {
            continue;
        }
        named = true;
        let key = rename.or(name).unwrap_or_default();
        if entry["optional"] != true || on.contains(&key) || brought.contains(&key) {
            return true;
        }
    }
    !named
}

fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| "cargo metadata lacks a list".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(name: &str, version: &str, licence: &str) -> Value {
        let source = if name == BINARY { Value::Null } else { json!("registry") };
        json!({ "name": name, "version": version, "id": format!("{name}@{version}"), "license": licence, "source": source })
    }

    fn metadata(packages: &[Value], edges: &[(&str, &str, Option<&str>)]) -> Value {
        let nodes: Vec<Value> = packages
            .iter()
            .map(|package| {
                let deps: Vec<Value> = edges
                    .iter()
                    .filter(|(from, ..)| package["id"] == *from)
                    .map(|(_, to, kind)| json!({ "pkg": to, "dep_kinds": [{ "kind": kind }] }))
                    .collect();
                json!({ "id": package["id"], "deps": deps })
            })
            .collect();
        json!({ "packages": packages, "resolve": { "nodes": nodes } })
    }

    fn arena() -> Value {
        package(BINARY, "0.1.0", "Apache-2.0 OR MIT")
    }

    #[test]
    fn doubles_banned_crates_and_licences_are_refused() {
        for bad in [
            vec![package("tokio", "1.0.0", "MIT"), package("tokio", "2.0.0", "MIT")],
            vec![package("openssl-sys", "0.9.0", "MIT")],
            vec![package("readline", "1.0.0", "GPL-3.0-only")],
        ] {
            let packages: Vec<Value> = bad.into_iter().chain([arena()]).collect();
            assert_eq!(check(&metadata(&packages, &[])).unwrap().1.len(), 1);
        }
        let fine = [arena(), package("syn", "1.0.0", "MIT"), package("syn", "2.0.0", "MIT")];
        assert_eq!(check(&metadata(&fine, &[])).unwrap().1, []);
    }

    #[test]
    fn what_only_tests_use_does_not_count_for_the_binary() {
        let packages = [
            arena(),
            package("a", "1.0.0", "MIT"),
            package("b", "1.0.0", "MIT"),
            package("c", "1.0.0", "MIT"),
        ];
        let edges = [
            ("arena@0.1.0", "a@1.0.0", None),
            ("a@1.0.0", "b@1.0.0", Some("build")),
            ("arena@0.1.0", "c@1.0.0", Some("dev")),
        ];
        let (counts, _) = check(&metadata(&packages, &edges)).unwrap();
        assert_eq!(counts, Counts { binary: 3, workspace: 4 });
    }

    #[test]
    fn what_nobody_switched_on_does_not_count() {
        let mut with = package("a", "1.0.0", "MIT");
        with["features"] = json!({ "std": ["b?/std"], "extra": ["dep:c"] });
        with["dependencies"] = json!([
            { "name": "b", "rename": null, "optional": true },
            { "name": "c", "rename": null, "optional": true },
            { "name": "d", "rename": "re-named", "optional": false },
        ]);
        let packages = [
            arena(),
            with,
            package("b", "1.0.0", "MIT"),
            package("c", "1.0.0", "MIT"),
            package("d", "1.0.0", "MIT"),
        ];
        let edges = [
            ("arena@0.1.0", "a@1.0.0", None),
            ("a@1.0.0", "b@1.0.0", None),
            ("a@1.0.0", "c@1.0.0", None),
            ("a@1.0.0", "d@1.0.0", None),
        ];
        let mut metadata = metadata(&packages, &edges);
        let built = |metadata: &Value| check(metadata).unwrap().0.binary;
        let mut names = metadata["resolve"]["nodes"][1]["deps"].take();
        for (edge, name) in names.as_array_mut().unwrap().iter_mut().zip(["b", "c", "re_named"]) {
            edge["name"] = json!(name);
        }
        metadata["resolve"]["nodes"][1]["deps"] = names;
        metadata["resolve"]["nodes"][1]["features"] = json!(["std"]);
        assert_eq!(built(&metadata), 3);
        metadata["resolve"]["nodes"][1]["features"] = json!(["std", "extra"]);
        assert_eq!(built(&metadata), 4);
    }

    #[test]
    fn too_many_crates_are_refused() {
        let mut packages = vec![arena()];
        packages.extend((1..CRATES_LIMIT).map(|n| package(&format!("c{n}"), "1.0.0", "MIT")));
        let ids: Vec<String> = (1..CRATES_LIMIT).map(|n| format!("c{n}@1.0.0")).collect();
        let edges: Vec<(&str, &str, Option<&str>)> =
            ids.iter().map(|id| ("arena@0.1.0", id.as_str(), None)).collect();
        assert_eq!(check(&metadata(&packages, &edges)).unwrap().1.len(), 1);
        assert_eq!(check(&metadata(&packages, &edges[1..])).unwrap().1.len(), 0);
    }
}

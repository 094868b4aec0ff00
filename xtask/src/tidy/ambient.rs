//! Time, randomness and the environment, where clippy's list of methods does not reach.
//!
//! clippy names functions one by one and takes an `#[expect]`; this says in which files either may
//! stand at all.

use super::{Rust, Violation, source::has_word};

const RULE: &str = "ambient";

struct Ban {
    words: &'static [&'static str],
    places: &'static [&'static str],
    advice: &'static str,
}

const BANS: [Ban; 4] = [
    Ban {
        words: &["env::var", "env::var_os", "env::vars", "env::vars_os", "env::set_var", "env::remove_var"],
        // Cargo tells a build script where to write in no other way.
        places: &["crates/arena/", "crates/testkit/", "benches/", "xtask/", "crates/semantic-model/build.rs"],
        advice: "only the binary reads the environment; take a parameter",
    },
    Ban {
        words: &[
            "SystemTime::now",
            "UNIX_EPOCH.elapsed",
            "Timestamp::now",
            "Zoned::now",
            "Utc::now",
            "OffsetDateTime::now_utc",
        ],
        places: &["crates/kernel/src/time.rs", "benches/"],
        advice: "time is a parameter; take it from Tx::now or a kernel::time::Clock",
    },
    Ban {
        words: &["getrandom::", "Uuid::new_v4", "Uuid::now_v7", "thread_rng", "rand::random", "rand::rng"],
        places: &["crates/kernel/src/id.rs", "benches/"],
        advice: "randomness is a parameter; take it from a kernel::id::Ids",
    },
    Ban {
        words: &["clippy::disallowed_methods"],
        places: &[
            "crates/kernel/src/id.rs",
            "crates/kernel/src/time.rs",
            "crates/arena/",
            "crates/testkit/",
            "benches/",
            "xtask/",
        ],
        advice: "the ban cannot be lifted here; take a parameter",
    },
];

pub(super) fn check(files: &[Rust<'_>]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for Rust { file, source } in files {
        for ban in BANS.iter().filter(|ban| !file.is_under(ban.places)) {
            for (line, code) in source.code() {
                if let Some(word) = ban.words.iter().find(|word| has_word(code, word)) {
                    violations.push(Violation::new(
                        &file.path,
                        line,
                        RULE,
                        format!("`{word}`: {}", ban.advice),
                    ));
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
    fn each_ambient_source_is_refused_outside_its_place() {
        for line in [
            "let a = std::env::var_os(\"HOME\");",
            "let b = SystemTime::now();",
            "getrandom::u64();",
            "#[expect(clippy::disallowed_methods, reason = \"x\")]",
        ] {
            let bad = sample("crates/duels/src/rules.rs", line);
            assert_eq!(check(&[rust(&bad)]).len(), 1, "{line}");
        }
        let good =
            sample("crates/duels/src/rules.rs", "let now = tx.now(); // not SystemTime::now\nenv!(\"X\");");
        let place = sample("crates/kernel/src/time.rs", "SystemTime::now()");
        assert_eq!(check(&[rust(&good), rust(&place)]), []);
    }
}

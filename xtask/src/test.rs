//! `cargo xtask test`: sets up what the tests need, runs `cargo test`, and says what was skipped.
//!
//! The tests learn where things are from variables (`ARENA_TEST_*`, listed in CONTRIBUTING.md). With
//! `CI` set nothing may be skipped.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    Outcome,
    cargo::cargo,
    golden,
    ground::{Ground, in_ci},
    keeper::Keeper,
    run::{Steps, answer},
    setup,
    tally::Tally,
};

/// How long a program that a test started may outlive it.
const STRAY_GRACE: Duration = Duration::from_secs(2);
const STRAY_POLL: Duration = Duration::from_millis(100);

pub(crate) fn test(only: Option<&str>) -> Result<Outcome, String> {
    let began = Instant::now();
    let ground = Ground::find()?;
    let strict = in_ci();
    let mut keeper = Keeper::start().map_err(|error| format!("cannot start /bin/sh: {error}"))?;
    let temporary = temporary(&mut keeper)?;
    let mut steps = Steps::new(&mut keeper, &ground.cache)?;
    let ready = setup::set_up(&ground, &mut steps, &temporary);
    steps.say("running the tests");

    let skips = temporary.join("skips");
    let seen = temporary.join("golden-seen");
    for file in [&skips, &seen] {
        fs::write(file, "").map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    let mut command = cargo();
    command.current_dir(&ground.root).args(["test", "--no-fail-fast"]);
    command.args(selection(only, &packages(&ground)?));
    command.envs(ready.variables).env("ARENA_TEST_SKIPS", &skips).env("ARENA_GOLDEN_SEEN", &seen);
    command.env_remove("ARENA_GOLDEN");
    if strict {
        command.env("ARENA_TEST_STRICT", "1");
    } else {
        command.env_remove("ARENA_TEST_STRICT");
    }

    let mut child = steps
        .keeper
        .spawn(command.stdout(Stdio::piped()))
        .map_err(|error| format!("cargo does not start: {error}"))?;
    let mut tally = Tally::default();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n') {
            let line = line.map_err(|error| format!("cannot read what cargo prints: {error}"))?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            tally.add(&line);
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let strays = strays(child.id());
    if strays.is_empty() {
        // Otherwise the group stays with the keeper, which ends it.
        steps.keeper.ended().map_err(|error| error.to_string())?;
    }

    let mut report = Report { tally, missing: ready.missing, strict, ..Report::default() };
    report.cargo_failed = !status.success();
    report.skips = lines(&skips)?.into_iter().collect();
    report.strays = strays;
    if only.is_none() {
        report.stale = golden::stale(&ground.root, &lines(&seen)?)?;
    }
    for line in report.lines() {
        println!("{line}");
    }
    println!("tests: {:.1} s in all", began.elapsed().as_secs_f64());
    println!("{}", report.closing());
    Ok(report.outcome())
}

/// What a run came to.
#[derive(Debug, Default)]
struct Report {
    tally: Tally,
    cargo_failed: bool,
    strict: bool,
    /// Tools that cannot be had: name, reason.
    missing: Vec<(String, String)>,
    /// What tests said of themselves: name, tab, reason.
    skips: BTreeSet<String>,
    /// Programs that outlived the tests.
    strays: Vec<String>,
    /// Golden files that no test compares.
    stale: Vec<String>,
}

impl Report {
    fn skipped(&self) -> u64 {
        self.tally.ignored + self.skips.len() as u64
    }

    /// A test that skips itself ends well, so Cargo counts it as passed.
    fn closing(&self) -> String {
        let passed = if self.strict {
            self.tally.passed
        } else {
            self.tally.passed.saturating_sub(self.skips.len() as u64)
        };
        format!("{passed} passed, {} failed, {} skipped", self.tally.failed, self.skipped())
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, reason) in &self.missing {
            lines.push(format!("skipped: {name} cannot be had: {reason}"));
        }
        for skip in &self.skips {
            let (name, reason) = skip.split_once('\t').unwrap_or((skip, "no reason given"));
            lines.push(format!("skipped: {name}: {reason}"));
        }
        if self.tally.ignored > 0 {
            lines.push(format!("skipped: {} tests that are marked as ignored", self.tally.ignored));
        }
        for stray in &self.strays {
            lines.push(format!("left running by a test, now ended: {stray}"));
        }
        for path in &self.stale {
            lines.push(format!("golden file that no test compares: {path}; delete it"));
        }
        if self.ran_nothing() {
            lines.push("no test ran: check the pattern".to_owned());
        }
        if self.strict && (self.skipped() > 0 || !self.missing.is_empty()) {
            lines.push("CI is set, so what was skipped fails the run".to_owned());
        }
        lines
    }

    fn ran_nothing(&self) -> bool {
        self.tally.passed + self.tally.failed == 0
    }

    fn outcome(&self) -> Outcome {
        let skipped_in_ci = self.strict && (self.skipped() > 0 || !self.missing.is_empty());
        let bad = self.cargo_failed
            || self.tally.failed > 0
            || self.ran_nothing()
            || skipped_in_ci
            || !self.strays.is_empty()
            || !self.stale.is_empty();
        if bad { Outcome::Bad } else { Outcome::Good }
    }
}

/// Cargo's arguments for a pattern: a package, a `package::filter`, or a part of a test's name.
fn selection(only: Option<&str>, packages: &[String]) -> Vec<String> {
    let words: Vec<&str> = match only {
        None => vec!["--workspace"],
        Some(pattern) => {
            let (head, filter) =
                pattern.split_once("::").map_or((pattern, None), |(head, rest)| (head, Some(rest)));
            if packages.iter().any(|package| package == head) {
                ["-p", head].into_iter().chain(filter).collect()
            } else {
                vec!["--workspace", pattern]
            }
        }
    };
    words.into_iter().map(str::to_owned).collect()
}

/// The packages of the workspace, by name.
fn packages(ground: &Ground) -> Result<Vec<String>, String> {
    let mut command = cargo();
    command.current_dir(&ground.root).args(["metadata", "--locked", "--no-deps", "--format-version", "1"]);
    let told = answer(&mut command).ok_or("cargo metadata fails; is Cargo.lock up to date?")?;
    let metadata: serde_json::Value = serde_json::from_str(&told).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    Ok(packages.iter().filter_map(|package| package["name"].as_str()).map(str::to_owned).collect())
}

/// A directory for the run. PostgreSQL's account passes through it, and sees nothing else in it.
fn temporary(keeper: &mut Keeper) -> Result<PathBuf, String> {
    let path = std::env::temp_dir().join(format!("arena-test-{}", std::process::id()));
    fs::create_dir(&path).map_err(|error| format!("cannot create {}: {error}", path.display()))?;
    keeper.remove_at_end(&path).map_err(|error| error.to_string())?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o711)).map_err(|error| error.to_string())?;
    Ok(path)
}

/// What still runs in the tests' process group after a moment of grace.
fn strays(group: u32) -> Vec<String> {
    let began = Instant::now();
    loop {
        let strays = members(group);
        if strays.is_empty() || began.elapsed() > STRAY_GRACE {
            return strays;
        }
        sleep(STRAY_POLL);
    }
}

fn members(group: u32) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| {
            let stat = fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
            parse_stat(&stat).filter(|(_, found)| *found == group).map(|(name, _)| name)
        })
        .collect()
}

/// Name and process group out of `/proc/ID/stat`, unless the process is only waiting to be reaped.
/// The name is in brackets and may hold any character, brackets too.
fn parse_stat(stat: &str) -> Option<(String, u32)> {
    let (head, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    (state != "Z").then(|| (format!("{head})"), group))
}

fn lines(path: &Path) -> Result<Vec<String>, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Report {
        Report { tally: Tally { passed: 5, reports: 1, ..Tally::default() }, ..Report::default() }
    }

    #[test]
    fn a_pattern_is_a_package_or_a_filter() {
        let packages = ["store".to_owned(), "duels".to_owned()];
        assert_eq!(selection(None, &packages), ["--workspace"]);
        assert_eq!(selection(Some("store"), &packages), ["-p", "store"]);
        assert_eq!(selection(Some("store::ledger::posts"), &packages), ["-p", "store", "ledger::posts"]);
        assert_eq!(selection(Some("ledger::posts"), &packages), ["--workspace", "ledger::posts"]);
        assert_eq!(selection(Some("sto"), &packages), ["--workspace", "sto"]);
    }

    #[test]
    fn a_skip_is_named_and_fails_only_in_ci() {
        let mut report = good();
        assert_eq!(report.outcome(), Outcome::Good);
        report.skips.insert("inspector\tno Node.js".to_owned());
        assert_eq!(report.outcome(), Outcome::Good);
        assert_eq!(report.closing(), "4 passed, 0 failed, 1 skipped");
        assert!(report.lines().contains(&"skipped: inspector: no Node.js".to_owned()));
        report.strict = true;
        assert_eq!(report.outcome(), Outcome::Bad);
    }

    #[test]
    fn a_missing_tool_fails_only_in_ci() {
        let mut report = good();
        report.missing.push(("PostgreSQL".to_owned(), "no network".to_owned()));
        assert_eq!(report.outcome(), Outcome::Good);
        assert!(report.lines()[0].contains("PostgreSQL cannot be had: no network"));
        report.strict = true;
        assert_eq!(report.outcome(), Outcome::Bad);
    }

    #[test]
    fn each_kind_of_trouble_fails_the_run() {
        let spoil: [fn(&mut Report); 5] = [
            |report| report.cargo_failed = true,
            |report| report.tally.failed = 1,
            |report| report.tally.passed = 0,
            |report| report.strays.push("7 (arena)".to_owned()),
            |report| report.stale.push("golden/old.json".to_owned()),
        ];
        for spoil in spoil {
            let mut report = good();
            spoil(&mut report);
            assert_eq!(report.outcome(), Outcome::Bad, "{report:?}");
        }
    }

    #[test]
    fn a_process_is_read_from_its_line() {
        assert_eq!(parse_stat("12 (a) b) S 1 77 77 0"), Some(("12 (a) b)".to_owned(), 77)));
        assert_eq!(parse_stat("12 (done) Z 1 77 77 0"), None);
        assert_eq!(parse_stat(""), None);
    }
}

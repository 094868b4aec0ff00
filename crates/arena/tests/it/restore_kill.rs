//! A restore that is killed leaves the old data or the restored, and the next command finds either whole.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    backup::lived_in,
    process::{Home, PATIENCE, Running, names_in},
};

/// What the killer waits for in the data directory before it kills.
#[derive(Debug, Clone, Copy)]
enum When {
    /// The place where the backup is unpacked.
    Staging,
    Unpacked,
    /// The restored data counts from here on.
    Marked,
    MovedAside,
    After(Duration),
}

impl When {
    fn has_come(self, data: &Path, started: Instant) -> bool {
        match self {
            Self::Staging => data.join("restore-staging").exists(),
            Self::Unpacked => data.join("restore-staging/arena.lock").exists(),
            Self::Marked => data.join("restore-in-progress").exists(),
            Self::MovedAside => names_in(data).iter().any(|name| name.starts_with("before-restore-")),
            Self::After(delay) => started.elapsed() >= delay,
        }
    }
}

fn people(home: &Home) -> Vec<String> {
    let list = home.json(&["admin", "user", "list", "--json"]);
    let names = list.as_array().unwrap().iter().map(|user| user["nickname"].as_str().unwrap().to_owned());
    names.collect()
}

#[test]
fn a_kill_leaves_the_old_or_the_restored_data() {
    let (home, _) = lived_in();
    let target = home.path().join("copy.arena").display().to_string();
    assert_eq!(home.run(&["admin", "backup", &target]).code, 0);
    let whole = fs::metadata(&target).unwrap().len();
    assert!(whole > 0);
    let (old, restored) = (["alpha", "beta", "gamma"], ["alpha", "beta"]);
    let times = (0..12).map(|step| When::After(Duration::from_millis(step * 9)));
    let places = [When::Staging, When::Unpacked, When::Marked, When::MovedAside];
    let mut seen = (0, 0);
    for when in places.into_iter().chain(places).chain(times) {
        // The data differs from the backup by a person.
        if people(&home) == restored {
            home.person("gamma");
        }
        let child = Running::start(&mut home.command(&["admin", "restore", &target, "--force"]));
        killed(&child, when, &home.data());
        child.wait();
        let found = people(&home);
        if found == old {
            seen.0 += 1;
        } else {
            assert_eq!(found, restored, "{when:?}");
            seen.1 += 1;
        }
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, 0, "{when:?}: {}", doctor.stdout);
        assert!(!home.data().join("restore-in-progress").exists());
        assert_eq!(names_in(&home.data().join("avatars")).len(), 1, "{when:?}");
    }
    assert!(seen.0 > 0 && seen.1 > 0, "{seen:?}: only one of the two was met");
    // What a killed one left behind does not stop the next.
    assert_eq!(home.run(&["admin", "restore", &target, "--force"]).code, 0);
    assert!(!home.data().join("restore-staging").exists());
}

/// Kills when the time has come, or finds that the process ended before.
fn killed(child: &Running, when: When, data: &Path) {
    let started = Instant::now();
    let ended = || {
        let status = fs::read_to_string(format!("/proc/{}/stat", child.id()));
        status.map_or(true, |text| text.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z')))
    };
    while !when.has_come(data, started) && !ended() {
        assert!(started.elapsed() < PATIENCE, "{when:?} did not come");
        std::hint::spin_loop();
    }
    // It may have ended just now, which is another point at which a kill finds it.
    let _ = Command::new("kill").args(["-KILL", &child.id().to_string()]).output();
}

#[test]
fn whoever_opens_the_data_ends_a_restore_that_was_interrupted() {
    for command in [
        &["admin", "user", "list"][..],
        &["doctor"],
        &["serve", "--listen", "127.0.0.1:0"],
        &["admin", "backup", "BACKUP"],
    ] {
        let (home, _) = lived_in();
        // As a crash right after the mark leaves it.
        let stage = home.data().join("restore-staging");
        fs::create_dir(&stage).unwrap();
        fs::rename(home.data().join("arena.db"), stage.join("arena.db")).unwrap();
        fs::write(home.data().join("arena.db"), "the old data").unwrap();
        fs::write(home.data().join("restore-in-progress"), "before-restore-x").unwrap();
        let target = home.path().join("copy.arena").display().to_string();
        let command: Vec<&str> =
            command.iter().map(|word| if *word == "BACKUP" { target.as_str() } else { word }).collect();
        if command[0] == "serve" {
            home.serve(&[]).stop();
        } else {
            let ran = home.run(&command);
            assert_eq!(ran.code, 0, "{command:?}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains("was interrupted has been ended"), "{command:?}: {}", ran.stderr);
        }
        assert_eq!(people(&home), ["alpha", "beta"], "{command:?}");
        let aside = home.data().join("before-restore-x");
        assert_eq!(fs::read(aside.join("arena.db")).unwrap(), b"the old data", "{command:?}");
        assert!(!home.data().join("restore-in-progress").exists() && !stage.exists(), "{command:?}");
    }
}

//! Help, completions and the table of exit codes.

use crate::process::Home;

/// A screen: help that does not fit is not read.
const LINES_MAX: usize = 24;
const COLUMNS_MAX: usize = 80;

const COMMANDS: [&str; 15] = [
    "",
    "demo",
    "serve",
    "mcp",
    "mcp duels",
    "duels",
    "duels verify",
    "admin",
    "admin user create",
    "admin user list",
    "admin key create",
    "admin key list",
    "admin key revoke",
    "doctor",
    "config show",
];

#[test]
fn every_help_fits_a_screen_and_names_the_data_directory() {
    let home = Home::new();
    for command in COMMANDS {
        let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
        for arguments in [[&words[..], &["--help"]].concat(), [&["help"][..], &words].concat()] {
            let ran = home.run(&arguments);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
            assert!(ran.stdout.lines().count() <= LINES_MAX, "{arguments:?}\n{}", ran.stdout);
            assert!(ran.stdout.lines().all(|line| line.chars().count() <= COLUMNS_MAX), "{}", ran.stdout);
            assert!(ran.stdout.contains("--data-dir"), "{arguments:?}\n{}", ran.stdout);
        }
    }
    assert!(!home.data().exists(), "asking for help makes nothing");
}

#[test]
fn the_exit_codes_are_a_topic() {
    let home = Home::new();
    let ran = home.run(&["help", "exit-codes"]);
    assert_eq!(ran.code, 0);
    let first: Vec<&str> = ran.stdout.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(first, ["0", "1", "2", "4", "5", "6", "7"]);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= COLUMNS_MAX), "{}", ran.stdout);
    let wrong = home.run(&["help", "exit-code"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("exit-codes"), "{}", wrong.stderr);
}

#[test]
fn version_and_completions_are_data() {
    let home = Home::new();
    let version = home.run(&["--version"]);
    assert_eq!((version.code, version.stdout), (0, format!("arena {}\n", env!("CARGO_PKG_VERSION"))));
    for shell in ["bash", "zsh", "fish"] {
        let ran = home.run(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("exit-codes") || ran.stdout.contains("doctor"), "{shell}");
        assert!(!ran.stdout.contains("picture"), "{shell} offers what only servers run");
    }
}

//! `arena duels run`: the same seed gives the same duels, programs play, and whatever goes wrong is told
//! and leaves nothing running.

use std::path::Path;

use serde_json::Value;

use crate::process::{Home, Ran, Running};

/// The example that newcomers copy, from the source tree.
fn example() -> String {
    format!("{}/../../examples/agent.py", env!("CARGO_MANIFEST_DIR"))
}

fn run(home: &Home, arguments: &[&str]) -> Ran {
    home.run(&[&["duels", "run"], arguments].concat())
}

/// Processes whose command line holds `text`.
fn running(text: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| {
            std::fs::read(process.path().join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(text))
        })
        .count()
}

#[test]
fn one_seed_plays_the_same_duels() {
    let home = Home::new();
    let play = |seed: &str, file: &str| {
        let path = home.path().join(file).display().to_string();
        let arguments = [
            "--a",
            "honest",
            "--b",
            "random",
            "--rounds",
            "600",
            "--seed",
            seed,
            "--transcripts",
            &path,
            "--json",
        ];
        let told = run(&home, &arguments);
        assert_eq!(told.code, 0, "{}", told.stderr);
        let mut report: Value = serde_json::from_str(&told.stdout).unwrap();
        report.as_object_mut().unwrap().remove("seconds");
        (report, std::fs::read_to_string(Path::new(&path)).unwrap())
    };
    let (one, two, other) = (play("7", "one"), play("7", "two"), play("8", "other"));
    assert_eq!(one, two);
    assert_ne!(one.1, other.1);
    assert_eq!((one.0["duels"].as_u64(), one.0["brokenOff"].as_bool()), (Some(600), Some(false)));
    let lines: Vec<Value> = one.1.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 600);
    let (mut wins, mut burned) = (0, 0);
    for (at, line) in lines.iter().enumerate() {
        assert_eq!(line["round"], at + 1);
        assert_eq!(
            (line["settled"].as_bool(), line["transcript"].as_array().map(Vec::len)),
            (Some(true), Some(2)),
            "{line}"
        );
        // The first word is each side's in turn.
        let (a, b) = (at % 2, 1 - at % 2);
        assert_eq!(line["participants"][a]["nickname"], "side-a", "{line}");
        let of = |field: &str, side: usize| line["participants"][side][field].as_i64().unwrap();
        let gross = of("stake", a) + of("stake", b);
        assert_eq!(of("payout", a) + of("payout", b) + line["burn"].as_i64().unwrap(), gross, "{line}");
        let fits = of("demand", a) + of("demand", b) < gross;
        assert_eq!(line["settlement"], if fits { "WITHIN_POT" } else { "OVER_POT" }, "{line}");
        wins += u64::from(of("payout", a) > of("stake", a));
        burned += u64::from(!fits);
    }
    assert_eq!(one.0["players"][0]["wins"].as_u64(), Some(wins));
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let percent = (burned as f64 / 600.0 * 1000.0).round() / 10.0;
    assert_eq!(one.0["overPot"]["percent"].as_f64(), Some(percent));
    assert_eq!(one.0["repeatable"], true);
}

/// Two that burn every pot run out of points, and get them again as often as it takes.
#[test]
fn a_side_without_points_is_filled_up_and_the_run_goes_on() {
    let home = Home::new();
    let told = run(&home, &["--a", "greedy", "--b", "greedy", "--rounds", "300", "--points", "10", "--json"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let report: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(report["duels"], 300);
    assert!(report["refills"].as_u64().unwrap() > 0, "{report}");
    let roi = report["players"][0]["roi"]["percent"].as_f64().unwrap();
    assert!(roi <= 0.0, "what was filled up is no return: {roi}");
}

#[test]
fn people_get_a_table() {
    let home = Home::new();
    let told = run(&home, &["--a", "greedy", "--b", "greedy", "--rounds", "20"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    for part in ["SIDE A", "SIDE B", "greedy", "got of the pot", "20 duels from seed 1", "Wilson"] {
        assert!(told.stdout.contains(part), "{part} in {}", told.stdout);
    }
    assert!(!told.stdout.contains('\u{1b}'), "plain off a terminal: {}", told.stdout);
}

#[test]
fn the_example_plays_a_script_and_leaves_nothing_behind() {
    let home = Home::new();
    let copy = home.path().join("agent.py");
    std::fs::copy(example(), &copy).unwrap();
    let program = format!("python3 {}", copy.display());
    let file = home.path().join("played").display().to_string();
    let arguments =
        ["--a", "tit-for-tat", "--b", &program, "--rounds", "2", "--transcripts", &file, "--json"];
    let told = run(&home, &arguments);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let report: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(report["duels"], 2);
    assert_eq!(report["players"][1]["player"], program.as_str());
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["settled"], true, "{record}");
    }
    assert_eq!(running(&copy.display().to_string()), 0);
}

#[test]
fn the_example_plays_in_the_demo_with_the_key_that_it_prints() {
    let home = Home::new();
    let mut demo =
        Running::start(home.command(&["demo", "--listen", "127.0.0.1:0"]).env("TMPDIR", home.path()));
    let told = demo.stdout_line(|line| line.starts_with("ARENA_MCP_URL="));
    let setting = |name: &str| {
        let word = told.split(' ').find_map(|word| word.strip_prefix(&format!("{name}=")));
        word.unwrap_or_else(|| panic!("no {name} in {told}")).to_owned()
    };
    let mut program = std::process::Command::new("python3");
    program.arg(example()).arg("1").env_remove("ARENA_OPPONENT").env("ARENA_PAUSE", "0.2");
    for name in ["ARENA_MCP_URL", "ARENA_API_KEY"] {
        program.env(name, setting(name));
    }
    let mut agent = Running::start(&mut program);
    let line = agent.stdout_line(|line| line.contains("asked"));
    assert!(line.starts_with("you asked") && line.contains("for a stake of"), "{line}");
    let (status, _, stderr) = agent.wait();
    assert!(status.success(), "{stderr:?}");
    demo.signal("TERM");
    assert!(demo.wait().0.success());
}

#[test]
fn what_cannot_play_is_told() {
    let home = Home::new();
    for (program, code, words) in [
        ("/nonexistent/agent", 2, "cannot be started"),
        ("/bin/false", 6, "ended after 0 of"),
        ("honset", 2, "neither a strategy nor a command"),
    ] {
        let told = run(&home, &["--a", "honest", "--b", program, "--rounds", "3"]);
        assert_eq!(told.code, code, "{program}: {}", told.stderr);
        assert!(told.stderr.contains(words) && told.stderr.contains("hint: "), "{program}: {}", told.stderr);
    }
    let script = home.path().join("last words.sh");
    std::fs::write(&script, "echo 'I give up \u{1b}[2J' >&2; exit 3").unwrap();
    let program = format!("sh '{}'", script.display());
    let told = run(&home, &["--a", &program, "--b", "honest"]);
    assert!(told.code == 6 && told.stderr.contains("I give up"), "{}", told.stderr);
    assert!(!told.stderr.contains('\u{1b}'), "{}", told.stderr);
    // What a program started goes with it, also when it went first; of many words the last ones are told.
    let program = "sh -c 'sleep 3611.5 & seq 1000 >&2; exit 3'";
    let told = run(&home, &["--a", "honest", "--b", program]);
    assert!(told.code == 6 && told.stderr.contains("exit status: 3"), "{}", told.stderr);
    assert!(told.stderr.contains("1000") && told.stderr.lines().count() < 10, "{}", told.stderr);
    assert_eq!(running("sleep 3611.5"), 0);
    for (option, value) in [
        ("--rounds", "0"),
        ("--rounds", "1000001"),
        ("--points", "9"),
        ("--patience", "0"),
        ("--clock-speed", "0.5"),
        ("--clock-speed", "1001"),
        ("--a", "python3 'agent.py"),
        ("--transcripts", "/nonexistent/x"),
    ] {
        let mut arguments = vec!["--b", "greedy", option, value];
        if option != "--a" {
            arguments.extend(["--a", "honest"]);
        }
        let told = run(&home, &arguments);
        assert_eq!(told.code, 2, "{arguments:?}: {}", told.stderr);
    }
}

/// A program that does nothing is told of by name with what it said, and ended with all that it started.
#[test]
fn a_program_that_does_nothing_ends_the_run_after_the_patience() {
    let home = Home::new();
    let script = home.path().join("idle.sh");
    std::fs::write(&script, "trap '' TERM; echo 'thinking' >&2; sleep 3600 & sleep 3600 & wait; wait")
        .unwrap();
    let program = format!("sh {}", script.display());
    let told = run(&home, &["--a", "honest", "--b", &program, "--rounds", "3", "--patience", "1"]);
    assert_eq!(told.code, 6, "{}", told.stderr);
    for words in ["no duel was settled for 1 seconds", "side-b", "never entered the arena", "thinking"] {
        assert!(told.stderr.contains(words), "{words}: {}", told.stderr);
    }
    assert_eq!(running(&script.display().to_string()), 0);
}

#[test]
fn an_interrupt_shows_what_was_played() {
    let home = Home::new();
    let playing = Running::start(
        home.command(&["duels", "run", "--a", "honest", "--b", "random", "--rounds", "1000000"])
            .arg("--transcripts")
            .arg(home.path().join("lines")),
    );
    let lines = home.path().join("lines");
    while !lines.exists() || std::fs::metadata(&lines).unwrap().len() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    playing.signal("INT");
    let (status, stdout, stderr) = playing.wait();
    assert!(status.success(), "{status} {stderr:?}");
    assert!(stdout.iter().any(|line| line.contains("duels from seed 1")), "{stdout:?}");
    assert!(stderr.iter().any(|line| line.contains("of 1000000 rounds")), "{stderr:?}");
}

/// A terminal that is closed ends everything that was started in it.
#[test]
fn a_closed_terminal_leaves_no_program_behind() {
    let home = Home::new();
    let program = "sh -c 'echo here >&2; sleep 3612.5'";
    let playing = Running::start(&mut home.command(&["duels", "run", "--a", "honest", "--b", program]));
    while running("sleep 3612.5") == 0 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    playing.signal("HUP");
    playing.wait();
    assert_eq!(running("sleep 3612.5"), 0);
}

#[test]
fn every_command_of_the_readme_is_one_that_this_program_takes() {
    let home = Home::new();
    let readme = include_str!("../../../../README.md");
    let mut seen = 0;
    for line in readme.lines().filter_map(|line| line.trim().strip_prefix("$ ")) {
        let line = line.split('#').next().unwrap_or(line);
        // Every second part stands in quotation marks.
        let words: Vec<&str> = line
            .split('"')
            .enumerate()
            .flat_map(|(at, part)| if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
            .collect();
        // Only lines that run this program: through Cargo after `--`, or by its name.
        let at = match words.first() {
            Some(&"cargo") => words.iter().position(|word| *word == "--"),
            Some(&("arena" | "./target/release/arena")) => Some(0),
            _ => None,
        };
        let Some(at) = at else { continue };
        let arguments: Vec<&str> =
            words[at + 1..].iter().copied().take_while(|word| !word.starts_with('|')).collect();
        // With --help the whole command line is read and nothing is done.
        let told = home.run(&[&arguments[..], &["--help"]].concat());
        assert_eq!(told.code, 0, "{line}: {}", told.stderr);
        seen += 1;
    }
    assert!(seen >= 3, "{seen}");
}

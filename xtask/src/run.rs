//! Runs one step of a set-up: its output goes to a log, and the terminal sees how long it takes.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

use crate::keeper::Keeper;

const POLL: Duration = Duration::from_millis(50);
const FIRST_WORD_AFTER: Duration = Duration::from_secs(2);
const WORDS_EVERY: Duration = Duration::from_secs(5);
/// No step of a set-up may take longer: a mirror that hangs must not hang the run.
const STEP_MAX: Duration = Duration::from_mins(10);
/// How much of a log's end is looked at, in bytes.
const TAIL_BYTES: u64 = 4096;
const TAIL_LINES: usize = 15;

/// Runs steps and remembers where their logs go.
#[derive(Debug)]
pub(crate) struct Steps<'a> {
    pub(crate) keeper: &'a mut Keeper,
    logs: PathBuf,
    began: Instant,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(keeper: &'a mut Keeper, cache: &Path) -> Result<Self, String> {
        let logs = cache.join("logs");
        std::fs::create_dir_all(&logs)
            .map_err(|error| format!("cannot create {}: {error}", logs.display()))?;
        Ok(Self { keeper, logs, began: Instant::now() })
    }

    /// Prints a line with the seconds since the run began.
    pub(crate) fn say(&self, words: &str) {
        println!("[{:6.1} s] {words}", self.began.elapsed().as_secs_f64());
    }

    /// Runs a command to its end. An `Err` holds the end of what it printed.
    pub(crate) fn run(&mut self, what: &str, command: &mut Command) -> Result<(), String> {
        let name: String = what.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let path = self.logs.join(format!("{name}.log"));
        let log = File::create(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let both = log.try_clone().map_err(|error| error.to_string())?;
        let began = Instant::now();
        let mut child = self
            .keeper
            .spawn(command.stdout(log).stderr(both))
            .map_err(|error| format!("{what}: {} does not start: {error}", program(command)))?;
        let mut next_word = FIRST_WORD_AFTER;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                break status;
            }
            let spent = began.elapsed();
            if spent > STEP_MAX {
                child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
                return Err(format!("{what}: gave up after {} s; see {}", spent.as_secs(), path.display()));
            }
            if spent >= next_word {
                let last = tail(&path, 1).pop().unwrap_or_default();
                self.say(&format!("  {what}: {} s so far {}", spent.as_secs(), shorten(&last)));
                next_word = spent + WORDS_EVERY;
            }
            sleep(POLL);
        };
        self.keeper.ended().map_err(|error| error.to_string())?;
        if status.success() {
            if began.elapsed() >= FIRST_WORD_AFTER {
                self.say(&format!("  {what}: done in {:.1} s", began.elapsed().as_secs_f64()));
            }
            return Ok(());
        }
        Err(format!(
            "{what}: {} ended with {status}\n    {}",
            program(command),
            tail(&path, TAIL_LINES).join("\n    ")
        ))
    }
}

/// What a command prints, trimmed; `None` if it does not start or does not succeed.
pub(crate) fn answer(command: &mut Command) -> Option<String> {
    let output = command.stdin(std::process::Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The last lines of a log that are not empty.
pub(crate) fn tail(path: &Path, lines: usize) -> Vec<String> {
    let mut bytes = Vec::new();
    if let Ok(mut file) = File::open(path) {
        let length = file.metadata().map_or(0, |meta| meta.len());
        let from = length.saturating_sub(TAIL_BYTES);
        if file.seek(SeekFrom::Start(from)).is_ok() {
            file.read_to_end(&mut bytes).ok();
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut last: Vec<String> = text
        .lines()
        .map(|line| line.chars().filter(|c| !c.is_control()).collect::<String>())
        .filter(|line| !line.trim().is_empty())
        .collect();
    last.drain(..last.len().saturating_sub(lines));
    last
}

fn program(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn shorten(line: &str) -> String {
    const SHOWN_CHARS: usize = 80;
    if line.trim().is_empty() {
        return String::new();
    }
    format!("({})", line.trim().chars().take(SHOWN_CHARS).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("arena-run-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        place
    }

    #[test]
    fn a_step_that_fails_says_what_it_printed() {
        let place = place("fails");
        let mut keeper = Keeper::start().unwrap();
        let mut steps = Steps::new(&mut keeper, &place).unwrap();
        let told = steps
            .run("a step", Command::new("sh").args(["-c", "echo first; echo the reason >&2; exit 3"]))
            .unwrap_err();
        assert!(told.contains("the reason") && told.contains("exit status: 3"), "{told}");
        assert!(steps.run("a step", &mut Command::new("true")).is_ok());
        assert!(
            steps
                .run("a step", &mut Command::new("no-such-program-here"))
                .unwrap_err()
                .contains("does not start")
        );
        std::fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn the_tail_is_the_last_lines_with_words() {
        let place = place("tail");
        let path = place.join("log");
        std::fs::write(&path, format!("{}\none\n\n\u{1b}two\n \n", "x".repeat(9000))).unwrap();
        assert_eq!(tail(&path, 2), ["one", "two"]);
        assert!(tail(&place.join("absent"), 2).is_empty());
        std::fs::remove_dir_all(place).unwrap();
    }
}

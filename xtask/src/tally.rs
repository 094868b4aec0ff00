//! Counts what `cargo test` says it ran.

/// The sums of all test binaries and documentation tests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
    /// How many test binaries reported.
    pub(crate) reports: u64,
}

impl Tally {
    /// Adds a line of output if it is a report such as
    /// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
    pub(crate) fn add(&mut self, line: &str) {
        let Some(report) = line.strip_prefix("test result: ") else { return };
        let Some((_, counts)) = report.split_once(". ") else { return };
        self.reports += 1;
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_summed_and_other_lines_are_not() {
        let mut tally = Tally::default();
        for line in [
            "running 4 tests",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 9 filtered out; finished in 0.00s",
            "test this::test result: ok. 100 passed; 0 failed",
            "test result: FAILED. 5 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s",
        ] {
            tally.add(line);
        }
        assert_eq!(tally, Tally { passed: 8, failed: 2, ignored: 1, reports: 2 });
    }
}

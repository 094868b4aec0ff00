//! Says on standard error what is being measured and since when.

use std::time::Instant;

pub(crate) struct Progress {
    began: Instant,
    row: &'static str,
}

impl Progress {
    pub(crate) fn new(row: &'static str) -> Self {
        Self { began: Instant::now(), row }
    }

    pub(crate) fn say(&self, words: &str) {
        eprintln!("[{:6.1} s] {}: {words}", self.began.elapsed().as_secs_f64(), self.row);
    }
}

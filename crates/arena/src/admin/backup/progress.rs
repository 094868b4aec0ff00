//! Tells how far a long copy is, on standard error. A short one says nothing.

use std::{
    path::PathBuf,
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::output::print;

/// How long something may take before it is told of, and how often it is.
const EVERY: Duration = Duration::from_secs(2);
const MEBIBYTE: u64 = 1024 * 1024;

/// Tells until it is dropped.
pub(super) struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Watches the file at `path` grow towards `total` bytes.
    pub(super) fn of_file(what: &'static str, path: PathBuf, total: u64) -> Self {
        Self::every(EVERY, move || {
            let done = std::fs::metadata(&path).map_or(0, |meta| meta.len()) / MEBIBYTE;
            print::note(&format!("{what}: {done} of about {} MiB", total / MEBIBYTE));
        })
    }

    /// Says that something without a measure still goes on.
    pub(super) fn of_work(what: &'static str) -> Self {
        Self::every(EVERY, move || print::note(&format!("{what} …")))
    }

    fn every(interval: Duration, tell: impl Fn() + Send + 'static) -> Self {
        let (stop, stopped) = channel::<()>();
        let watching = thread::Builder::new().name("arena-progress".to_owned()).spawn(move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                tell();
            }
        });
        // Without the thread there is no progress to see, and the work goes on.
        Self { stop: Some(stop), thread: watching.ok() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It tells only; a panic of its is no reason to fail what it told of.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_again_and_again_and_ends_with_the_work() {
        let (sender, told) = channel();
        let progress = Progress::every(Duration::from_millis(1), move || sender.send(()).unwrap_or_default());
        for _ in 0..3 {
            told.recv().unwrap();
        }
        drop(progress);
        while told.try_recv().is_ok() {}
        assert!(told.recv().is_err(), "the thread has ended, and with it the sender");
    }

    #[test]
    fn what_is_done_at_once_is_not_told_of() {
        let (sender, told) = channel::<()>();
        drop(Progress::every(Duration::from_hours(1), move || sender.send(()).unwrap_or_default()));
        assert!(told.recv().is_err());
    }
}

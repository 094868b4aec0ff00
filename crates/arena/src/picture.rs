//! `arena picture`, which people do not call: makes the small picture of a file on standard input.
//!
//! A server runs it for each avatar, because decoders of strangers' files may take much memory or end
//! their process; here that harms nobody.

use std::io::{Read, Write};

use crate::exit::ExitCode;

/// The word after the program's name.
pub(crate) const NAME: &str = "picture";
/// What the process may take in all, the program itself included.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// Reads the file, writes the picture; a refusal is one line on standard error.
pub(crate) fn run() -> ExitCode {
    let limit = rustix::process::Rlimit { current: Some(MEMORY_BYTES_MAX), maximum: Some(MEMORY_BYTES_MAX) };
    // Where the limit cannot be set there is none; the deadline of the server still holds.
    let _ = rustix::process::setrlimit(rustix::process::Resource::As, limit);
    let mut file = Vec::new();
    let most = u64::try_from(pictures::INPUT_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    if std::io::stdin().lock().take(most).read_to_end(&mut file).is_err() {
        return ExitCode::Failed;
    }
    match pictures::avatar(&file) {
        Ok(picture) => {
            let mut out = std::io::stdout().lock();
            match out.write_all(&picture).and_then(|()| out.flush()) {
                Ok(()) => ExitCode::Ok,
                Err(_) => ExitCode::Failed,
            }
        }
        Err(refusal) => {
            let _ = writeln!(std::io::stderr().lock(), "{refusal}");
            ExitCode::Refused
        }
    }
}

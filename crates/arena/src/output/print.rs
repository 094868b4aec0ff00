//! The only writers: a reader that goes away ends the output quietly, never with a panic.

use std::io::Write;

use serde::Serialize;

use crate::{failure::Failure, output::escape::printable_lines};

/// Writes `text` to standard output as it is.
pub(crate) fn data(text: &str) {
    let mut out = std::io::stdout().lock();
    // A closed pipe means that the reader has seen enough.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes one line to standard output; `false` when the reader is gone.
pub(crate) fn line(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).is_ok()
}

/// Writes one JSON document on one line to standard output.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text =
        serde_json::to_string(value).map_err(|error| Failure::failed(format!("cannot print: {error}")))?;
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        // The reader has gone on purpose; a full disk is another matter.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::failed(format!("standard output cannot be written: {error}"))
            .hint("nothing was undone: if a key was made, revoke it and make another with admin key create")),
    }
}

/// Writes a line for people to standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes a failure to standard error, in words or as one JSON object. The words may repeat what somebody
/// typed or a server sent, so they are escaped.
pub(crate) fn failure(failure: &Failure, as_json: bool) {
    if as_json {
        note(&failure.json());
        return;
    }
    note(&format!("error: {}", printable_lines(&failure.message)));
    if let Some(hint) = &failure.hint {
        note(&format!("hint: {}", printable_lines(hint)));
    }
}

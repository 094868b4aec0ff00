//! A settled duel as a line of the transcript file: what its public address answers, with the number it has
//! in the run. The same for scripts and programs.

use std::io::Write;

use duels::publics::DuelRecord;
use serde::Serialize;

use crate::failure::Failure;

#[derive(Serialize)]
struct Line<'d> {
    round: u64,
    #[serde(flatten)]
    duel: &'d DuelRecord,
}

pub(super) fn write(out: &mut dyn Write, round: u64, duel: &DuelRecord) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, &Line { round, duel })
        .map_err(std::io::Error::from)
        .and_then(|()| out.write_all(b"\n"))
        .map_err(|error| unwritable(&error))
}

pub(super) fn unwritable(error: &std::io::Error) -> Failure {
    Failure::failed(format!("the transcripts cannot be written: {error}"))
        .hint("check the path of --transcripts and the free space")
}

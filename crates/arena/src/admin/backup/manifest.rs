//! What a backup says about itself, and what both commands print.

use std::{collections::BTreeMap, fmt::Write};

use kernel::{Fault, Moment, tx::Tx};
use serde::{Deserialize, Serialize};

use crate::{failure::Failure, output::print};

/// The shape of the file; a restore takes no other.
pub(super) const FORMAT: u32 = 1;

/// What is in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) format: u32,
    /// Of the program that made it.
    pub(super) version: String,
    pub(super) created_at: Moment,
    /// The number of migrations that each part had.
    pub(super) schemas: BTreeMap<String, i64>,
    /// `None` when the program that made the backup could not read these tables.
    pub(super) counts: Option<Counts>,
    pub(super) database_bytes: u64,
    pub(super) database_sha256: String,
    pub(super) avatars: u64,
    /// Over the names and contents of the avatars, in the order of their names.
    pub(super) avatars_sha256: String,
}

/// The part of a manifest that every form has.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) format: u32,
    pub(super) version: String,
}

/// What a database holds, so that a person sees what came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Counts {
    pub(super) people: i64,
    pub(super) settled_duels: i64,
    pub(super) transfers: i64,
    pub(super) issued_points: i64,
    pub(super) held_points: i64,
    pub(super) burned_points: i64,
}

/// What a database holds and where its ledger does not add up.
pub(super) fn audited(tx: &mut dyn Tx) -> Result<(Counts, Vec<String>), Fault> {
    let audit = duels::audit::audit(tx)?;
    let counts = Counts {
        people: identity::people::count(tx)?,
        settled_duels: duels::audit::settled(tx)?,
        transfers: audit.transfers,
        issued_points: audit.issued,
        held_points: audit.held,
        burned_points: audit.burned,
    };
    Ok((counts, audit.violations))
}

/// What was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Done<'a> {
    pub(super) file: String,
    /// `None` for a bare database file.
    #[serde(flatten)]
    pub(super) manifest: Option<&'a Manifest>,
    #[serde(flatten)]
    pub(super) restored: Option<Outcome>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Outcome {
    pub(super) restored: Counts,
    /// Where the ledger does not add up; empty when it does.
    pub(super) violations: Vec<String>,
    /// Where what was there before went.
    pub(super) moved_to: Option<String>,
}

impl Done<'_> {
    pub(super) fn tell(&self, as_json: bool) -> Result<(), Failure> {
        if as_json {
            return print::json(self);
        }
        print::data(&self.words());
        Ok(())
    }

    fn words(&self) -> String {
        let mut text = format!("{}\n", self.file);
        // Writing to a String cannot fail.
        if let Some(manifest) = self.manifest {
            let _ = writeln!(
                text,
                "  made      {} by Arena {}\n  database  {} bytes, SHA-256 {}\n  avatars   {}",
                manifest.created_at,
                manifest.version,
                manifest.database_bytes,
                manifest.database_sha256,
                manifest.avatars
            );
        }
        let counts = match &self.restored {
            Some(restored) => Some(restored.restored),
            None => self.manifest.and_then(|manifest| manifest.counts),
        };
        if let Some(Counts { people, settled_duels, transfers, issued_points, held_points, burned_points }) =
            counts
        {
            let _ = writeln!(
                text,
                "  people    {people}\n  duels     {settled_duels} settled\n  ledger    {transfers} transfers; issued \
                 {issued_points} = held {held_points} + burned {burned_points}"
            );
        }
        if let Some(restored) = &self.restored {
            if restored.violations.is_empty() {
                text.push_str("\nRestored. The ledger adds up.\n");
            }
            if let Some(moved_to) = &restored.moved_to {
                let _ = writeln!(text, "What was there before is in {moved_to}.");
            }
        }
        text
    }
}

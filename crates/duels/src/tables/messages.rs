//! Messages, numbered from 1 within their duel.

use kernel::{Fault, Moment, tx::Tx};

use crate::rules::limits::{DELIVERED_MESSAGES_MAX, TRANSCRIPT_MESSAGES_MAX};

kernel::statements! {
    ADD = "INSERT INTO message (duel, seq, sender, text, sent_ms) VALUES ($1, $2, $3, $4, $5)";
    INCOMING = "SELECT seq, text, sent_ms FROM message WHERE duel = $1 AND seq > $2 AND sender <> $3 ORDER BY seq LIMIT $4";
    TRANSCRIPT = "SELECT m.seq, m.text, m.sent_ms, g.nickname FROM message m JOIN agent g ON g.id = m.sender WHERE m.duel = $1 ORDER BY m.seq LIMIT $2";
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) seq: i64,
    pub(crate) text: String,
    pub(crate) sent_at: Moment,
}

pub(crate) fn add(
    tx: &mut dyn Tx,
    slug: &str,
    seq: i64,
    sender: &str,
    text: &str,
    sent_at: Moment,
) -> Result<(), Fault> {
    tx.exec(&ADD, &[slug.into(), seq.into(), sender.into(), text.into(), sent_at.into()]).map(|_| ())
}

/// What the other side wrote after number `after`, oldest first, at most one delivery's worth.
pub(crate) fn incoming(tx: &mut dyn Tx, slug: &str, reader: &str, after: i64) -> Result<Vec<Message>, Fault> {
    tx.rows(&INCOMING, &[slug.into(), after.into(), reader.into(), DELIVERED_MESSAGES_MAX.into()])?
        .iter()
        .map(|row| Ok(Message { seq: row.i64(0)?, text: row.text(1)?, sent_at: row.moment(2)? }))
        .collect()
}

/// The conversation with the writers' nicknames, from its start, as far as one answer carries it. Public only after settlement.
pub(crate) fn transcript(tx: &mut dyn Tx, slug: &str) -> Result<Vec<(String, Message)>, Fault> {
    tx.rows(&TRANSCRIPT, &[slug.into(), TRANSCRIPT_MESSAGES_MAX.into()])?
        .iter()
        .map(|row| {
            let message = Message { seq: row.i64(0)?, text: row.text(1)?, sent_at: row.moment(2)? };
            Ok((row.text(3)?, message))
        })
        .collect()
}

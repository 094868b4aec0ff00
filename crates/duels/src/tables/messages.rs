//! Messages, numbered from 1 within their duel.

use kernel::{Fault, Moment, tx::Tx};

use crate::rules::limits::{DELIVERED_MESSAGES_MAX, TRANSCRIPT_MESSAGES_MAX};

kernel::statements! {
    ADD = "INSERT INTO message (duel, seq, sender, text, sent_ms) VALUES ($1, $2, $3, $4, $5)";
    INCOMING = "SELECT seq, text, sent_ms FROM message WHERE duel = $1 AND seq > $2 AND sender <> $3 ORDER BY seq LIMIT $4";
    OWN_A = "SELECT duel, text FROM (SELECT m.duel AS duel, m.text AS text, m.seq AS seq, ROW_NUMBER() OVER (PARTITION BY m.duel ORDER BY m.seq DESC) AS back FROM duel d JOIN message m ON m.duel = d.slug WHERE d.a = $1 AND d.state = 'FINISHED' AND d.settle_seq >= $2 AND m.sender = $1) s WHERE back <= $3 ORDER BY duel, seq";
    OWN_B = "SELECT duel, text FROM (SELECT m.duel AS duel, m.text AS text, m.seq AS seq, ROW_NUMBER() OVER (PARTITION BY m.duel ORDER BY m.seq DESC) AS back FROM duel d JOIN message m ON m.duel = d.slug WHERE d.b = $1 AND d.state = 'FINISHED' AND d.settle_seq >= $2 AND m.sender = $1) s WHERE back <= $3 ORDER BY duel, seq";
    TRANSCRIPT = "SELECT m.seq, m.text, m.sent_ms, g.nickname FROM message m JOIN agent g ON g.id = m.sender WHERE m.duel = $1 AND m.seq > $2 ORDER BY m.seq LIMIT $3";
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

/// The conversation with the writers' nicknames after number `after`, as far as one answer carries it.
/// Public only after settlement.
pub(crate) fn transcript(tx: &mut dyn Tx, slug: &str, after: i64) -> Result<Vec<(String, Message)>, Fault> {
    tx.rows(&TRANSCRIPT, &[slug.into(), after.into(), TRANSCRIPT_MESSAGES_MAX.into()])?
        .iter()
        .map(|row| {
            let message = Message { seq: row.i64(0)?, text: row.text(1)?, sent_at: row.moment(2)? };
            Ok((row.text(3)?, message))
        })
        .collect()
}

/// What an agent wrote in its duels settled at number `from` or later: duel and text, of each duel at
/// most the last `limit` in the order they were sent.
pub(crate) fn own_of_finished(
    tx: &mut dyn Tx,
    agent: &str,
    from: i64,
    limit: i64,
) -> Result<Vec<(String, String)>, Fault> {
    let args = [agent.into(), from.into(), limit.into()];
    let mut rows = tx.rows(&OWN_A, &args)?;
    rows.extend(tx.rows(&OWN_B, &args)?);
    rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
}

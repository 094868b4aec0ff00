//! Markets: what is asked, until when, and how their book stands.

use kernel::{
    Fault, Moment,
    tx::{Row, Tx},
};

use crate::rules::{
    life::{Life, Said, Verdict},
    price::{Cents, Outcome},
};

kernel::statements! {
    ADD = "INSERT INTO market (ticker, instrument, title, rules, source, creator, opens_ms, closes_ms, dispute_ms, is_paused, seq, tag, volume, fills, open_interest) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, 0, 0, 0, 0)";
    FIND = "SELECT ticker, creator, opens_ms, closes_ms, dispute_ms, is_paused, verdict, result, determined_ms, seq, tag, due_ms, last_price, volume, fills, open_interest FROM market WHERE ticker = $1";
    SET_BOOK = "UPDATE market SET seq = $2, tag = $3, due_ms = $4, last_price = $5, volume = $6, fills = $7, open_interest = $8 WHERE ticker = $1";
    SET_LIFE = "UPDATE market SET is_paused = $2, verdict = $3, result = $4, determined_ms = $5 WHERE ticker = $1";
    SET_FINALIZED = "UPDATE market SET finalized_ms = $2 WHERE ticker = $1";
    ALL_BOOKS = "SELECT ticker, open_interest, volume, fills, verdict FROM market ORDER BY ticker";
}

/// A market that is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMarket {
    pub ticker: String,
    pub instrument: String,
    pub title: String,
    pub rules: String,
    /// Where it is looked up what happened.
    pub source: String,
    pub creator: String,
    pub opens_at: Moment,
    pub closes_at: Moment,
    pub dispute_ms: i64,
}

/// A market as trading needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Market {
    pub(crate) ticker: String,
    pub(crate) creator: String,
    pub(crate) life: Life,
    pub(crate) book: BookState,
}

/// What changes with each order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BookState {
    pub(crate) seq: i64,
    pub(crate) tag: i64,
    /// When the first of the resting orders expires.
    pub(crate) due_at: Option<Moment>,
    pub(crate) last_price: Option<Cents>,
    /// Contracts that changed hands.
    pub(crate) volume: i64,
    pub(crate) fills: i64,
    /// Contracts that pay somebody in the end.
    pub(crate) open_interest: i64,
}

pub(crate) fn add(tx: &mut dyn Tx, new: &NewMarket) -> Result<(), Fault> {
    let args = [
        (&new.ticker).into(),
        (&new.instrument).into(),
        (&new.title).into(),
        (&new.rules).into(),
        (&new.source).into(),
        (&new.creator).into(),
        new.opens_at.into(),
        new.closes_at.into(),
        new.dispute_ms.into(),
    ];
    tx.exec(&ADD, &args).map(|_| ())
}

pub(crate) fn find(tx: &mut dyn Tx, ticker: &str) -> Result<Option<Market>, Fault> {
    tx.row(&FIND, &[ticker.into()])?.map(|row| read(&row)).transpose()
}

fn read(row: &Row) -> Result<Market, Fault> {
    let said = row.opt_text(6)?.map(|text| known(&Said::ALL, &text, Said::as_str)).transpose()?;
    let result = row.opt_text(7)?.map(|text| side(&text)).transpose()?;
    let verdict = match (said, result, row.opt_moment(8)?) {
        (Some(said), Some(result), Some(at)) => Some(Verdict { said, result, at }),
        _ => None,
    };
    Ok(Market {
        ticker: row.text(0)?,
        creator: row.text(1)?,
        life: Life {
            opens_at: row.moment(2)?,
            closes_at: row.moment(3)?,
            dispute_ms: row.i64(4)?,
            is_paused: row.i64(5)? != 0,
            verdict,
        },
        book: BookState {
            seq: row.i64(9)?,
            tag: row.i64(10)?,
            due_at: row.opt_moment(11)?,
            last_price: row.opt_i64(12)?.map(price).transpose()?,
            volume: row.i64(13)?,
            fills: row.i64(14)?,
            open_interest: row.i64(15)?,
        },
    })
}

pub(crate) fn set_book(tx: &mut dyn Tx, ticker: &str, book: &BookState) -> Result<(), Fault> {
    let args = [
        ticker.into(),
        book.seq.into(),
        book.tag.into(),
        book.due_at.into(),
        book.last_price.map(|price| i64::from(price.get())).into(),
        book.volume.into(),
        book.fills.into(),
        book.open_interest.into(),
    ];
    tx.exec(&SET_BOOK, &args).map(|_| ())
}

pub(crate) fn set_life(tx: &mut dyn Tx, ticker: &str, life: &Life) -> Result<(), Fault> {
    let args = [
        ticker.into(),
        i64::from(life.is_paused).into(),
        life.verdict.map(|verdict| verdict.said.as_str()).into(),
        life.verdict.map(|verdict| verdict.result.as_str()).into(),
        life.verdict.map(|verdict| verdict.at).into(),
    ];
    tx.exec(&SET_LIFE, &args).map(|_| ())
}

pub(crate) fn set_finalized(tx: &mut dyn Tx, ticker: &str) -> Result<(), Fault> {
    let now = tx.now();
    tx.exec(&SET_FINALIZED, &[ticker.into(), now.into()]).map(|_| ())
}

/// The counters of a market, for the audit.
pub(crate) struct Counters {
    pub(crate) ticker: String,
    pub(crate) open_interest: i64,
    pub(crate) volume: i64,
    pub(crate) fills: i64,
    pub(crate) is_finalized: bool,
}

pub(crate) fn all_counters(tx: &mut dyn Tx) -> Result<Vec<Counters>, Fault> {
    let counters = |row: &Row| {
        Ok(Counters {
            ticker: row.text(0)?,
            open_interest: row.i64(1)?,
            volume: row.i64(2)?,
            fills: row.i64(3)?,
            is_finalized: row.opt_text(4)?.as_deref() == Some(Said::Finalized.as_str()),
        })
    };
    tx.rows(&ALL_BOOKS, &[])?.iter().map(counters).collect()
}

/// The value that is written as `text`, which only we wrote.
pub(crate) fn known<T: Copy>(all: &[T], text: &str, word: fn(T) -> &'static str) -> Result<T, Fault> {
    all.iter()
        .copied()
        .find(|value| word(*value) == text)
        .ok_or_else(|| Fault::internal(format_args!("no such word is written here: {text}")))
}

pub(crate) fn side(text: &str) -> Result<Outcome, Fault> {
    Outcome::parse(text).ok_or_else(|| Fault::internal(format_args!("no side is called {text}")))
}

pub(crate) fn price(cents: i64) -> Result<Cents, Fault> {
    Cents::new(cents).ok_or_else(|| Fault::internal(format_args!("{cents} cents are no price")))
}

/// A number of contracts.
pub(crate) fn count(value: i64) -> Result<u32, Fault> {
    u32::try_from(value).map_err(Fault::internal)
}

//! The columns of the file: their schema, and what records put into them.
//!
//! A duel is a row. Its sides are columns that begin with `a_` and `b_`, because a query asks for one side
//! or the other; its messages are a list.

use kernel::Moment;
use parquet::data_type::ByteArray;

use crate::record::{Message, Party, Record};

/// The schema, in Parquet's own words. [`of`] fills the leaves in this order.
pub(crate) const SCHEMA: &str = "
message duel {
  REQUIRED BYTE_ARRAY slug (STRING);
  REQUIRED BYTE_ARRAY duel_url (STRING);
  REQUIRED INT64 started_at (TIMESTAMP(MILLIS,true));
  REQUIRED INT64 deadline_at (TIMESTAMP(MILLIS,true));
  REQUIRED INT64 finished_at (TIMESTAMP(MILLIS,true));
  REQUIRED BYTE_ARRAY settlement (STRING);
  REQUIRED INT64 gross_pot;
  REQUIRED INT64 base_burn;
  REQUIRED INT64 distributable_pot;
  REQUIRED INT64 burn;
  REQUIRED BYTE_ARRAY a_nickname (STRING);
  REQUIRED BYTE_ARRAY a_public_profile_url (STRING);
  REQUIRED INT64 a_stake;
  OPTIONAL BYTE_ARRAY a_model_key (STRING);
  OPTIONAL BYTE_ARRAY a_commitment (STRING);
  OPTIONAL BYTE_ARRAY a_salt (STRING);
  REQUIRED INT64 a_demand;
  REQUIRED BYTE_ARRAY a_demand_source (STRING);
  REQUIRED INT64 a_payout;
  REQUIRED BYTE_ARRAY a_result (STRING);
  REQUIRED BYTE_ARRAY b_nickname (STRING);
  REQUIRED BYTE_ARRAY b_public_profile_url (STRING);
  REQUIRED INT64 b_stake;
  OPTIONAL BYTE_ARRAY b_model_key (STRING);
  OPTIONAL BYTE_ARRAY b_commitment (STRING);
  OPTIONAL BYTE_ARRAY b_salt (STRING);
  REQUIRED INT64 b_demand;
  REQUIRED BYTE_ARRAY b_demand_source (STRING);
  REQUIRED INT64 b_payout;
  REQUIRED BYTE_ARRAY b_result (STRING);
  REQUIRED INT64 messages;
  REQUIRED GROUP transcript (LIST) {
    REPEATED GROUP list {
      REQUIRED GROUP element {
        REQUIRED INT64 seq;
        REQUIRED BYTE_ARRAY nickname (STRING);
        REQUIRED INT64 sent_at (TIMESTAMP(MILLIS,true));
        REQUIRED BYTE_ARRAY message (STRING);
      }
    }
  }
}
";

/// The values of one leaf, with the levels that say where in a row each stands.
#[derive(Debug)]
pub(crate) enum Column {
    Text(Vec<ByteArray>, Levels),
    Number(Vec<i64>, Levels),
}

/// How deep a value is defined and where a row begins; neither where every row has exactly one value.
#[derive(Debug, Default, Clone)]
pub(crate) struct Levels {
    pub(crate) definition: Option<Vec<i16>>,
    pub(crate) repetition: Option<Vec<i16>>,
}

fn text(records: &[Record], of: impl Fn(&Record) -> &str) -> Column {
    Column::Text(records.iter().map(|record| ByteArray::from(of(record))).collect(), Levels::default())
}

fn number(records: &[Record], of: impl Fn(&Record) -> i64) -> Column {
    Column::Number(records.iter().map(of).collect(), Levels::default())
}

fn moment(records: &[Record], of: impl Fn(&Record) -> Moment) -> Column {
    number(records, |record| of(record).as_millis())
}

/// The columns of one side.
fn party(records: &[Record], side: usize) -> [Column; 10] {
    let parties = || records.iter().map(|record| &record.participants[side]);
    let words = |of: fn(&Party) -> &str| {
        Column::Text(parties().map(|party| ByteArray::from(of(party))).collect(), Levels::default())
    };
    let points = |of: fn(&Party) -> i64| Column::Number(parties().map(of).collect(), Levels::default());
    let perhaps = |of: fn(&Party) -> Option<&str>| {
        let definition = parties().map(|party| i16::from(of(party).is_some())).collect();
        let values = parties().filter_map(of).map(ByteArray::from).collect();
        Column::Text(values, Levels { definition: Some(definition), repetition: None })
    };
    [
        words(|party| &party.nickname),
        words(|party| &party.public_profile_url),
        points(|party| party.stake),
        perhaps(|party| party.model_key.as_deref()),
        perhaps(|party| party.commitment.as_deref()),
        perhaps(|party| party.salt.as_deref()),
        points(|party| party.demand),
        words(|party| &party.demand_source),
        points(|party| party.payout),
        words(|party| &party.result),
    ]
}

/// The columns of the list of messages.
fn transcript(records: &[Record]) -> [Column; 4] {
    let (mut definition, mut repetition) = (Vec::new(), Vec::new());
    for record in records {
        if record.transcript.is_empty() {
            definition.push(0);
            repetition.push(0);
        }
        for at in 0..record.transcript.len() {
            definition.push(1);
            repetition.push(i16::from(at > 0));
        }
    }
    let levels = Levels { definition: Some(definition), repetition: Some(repetition) };
    let lines = || records.iter().flat_map(|record| &record.transcript);
    let words = |of: fn(&Message) -> &str| {
        Column::Text(lines().map(|line| ByteArray::from(of(line))).collect(), levels.clone())
    };
    [
        Column::Number(lines().map(|line| line.seq).collect(), levels.clone()),
        words(|line| &line.nickname),
        Column::Number(lines().map(|line| line.sent_at.as_millis()).collect(), levels.clone()),
        words(|line| &line.message),
    ]
}

/// What `records` put into the leaves of [`SCHEMA`], in its order.
pub(crate) fn of(records: &[Record]) -> Vec<Column> {
    let mut columns = vec![
        text(records, |record| &record.slug),
        text(records, |record| &record.duel_url),
        moment(records, |record| record.started_at),
        moment(records, |record| record.deadline_at),
        moment(records, |record| record.finished_at),
        text(records, |record| &record.settlement),
        number(records, |record| record.gross_pot),
        number(records, |record| record.base_burn),
        number(records, |record| record.distributable_pot),
        number(records, |record| record.burn),
    ];
    columns.extend(party(records, 0));
    columns.extend(party(records, 1));
    columns.push(number(records, |record| record.messages));
    columns.extend(transcript(records));
    columns
}

//! Writes records as they come, a group of rows at a time, so that memory stays bounded.

use std::{io::Write, sync::Arc};

use parquet::{
    column::writer::ColumnWriter,
    errors::ParquetError,
    file::{
        properties::WriterProperties,
        writer::{SerializedColumnWriter, SerializedFileWriter},
    },
    schema::parser::parse_message_type,
};

use crate::{
    columns::{self, Column},
    record::Record,
};

/// A group of rows ends with this many rows, or with the row that reaches [`GROUP_TEXT_BYTES`].
const GROUP_ROWS: usize = 10_000;
const GROUP_TEXT_BYTES: usize = 8 * 1024 * 1024;

/// The file could not be written.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ExportError(#[from] ParquetError);

/// A Parquet file in the making. It is none before [`Writer::finish`].
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    waiting: Vec<Record>,
    waiting_bytes: usize,
}

impl<W: Write + Send> Writer<W> {
    pub fn new(out: W) -> Result<Self, ExportError> {
        let schema = Arc::new(parse_message_type(columns::SCHEMA)?);
        let made_by = concat!("arena ", env!("CARGO_PKG_VERSION")).to_owned();
        let properties = WriterProperties::builder().set_created_by(made_by).build();
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
        Ok(Self { file, waiting: Vec::new(), waiting_bytes: 0 })
    }

    pub fn add(&mut self, record: Record) -> Result<(), ExportError> {
        self.waiting_bytes += record.text_bytes();
        self.waiting.push(record);
        if self.waiting.len() >= GROUP_ROWS || self.waiting_bytes >= GROUP_TEXT_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), ExportError> {
        let records = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        let mut group = self.file.next_row_group()?;
        for column in columns::of(&records) {
            let leaf = group.next_column()?.ok_or_else(|| unfit("a leaf too few"))?;
            write_column(leaf, &column)?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes what waits and the end of the file. A file without rows has its schema.
    pub fn finish(mut self) -> Result<W, ExportError> {
        if !self.waiting.is_empty() {
            self.write_group()?;
        }
        Ok(self.file.into_inner()?)
    }
}

fn unfit(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

fn write_column(mut leaf: SerializedColumnWriter<'_>, column: &Column) -> Result<(), ParquetError> {
    match (leaf.untyped(), column) {
        (ColumnWriter::ByteArrayColumnWriter(out), Column::Text(values, levels)) => {
            out.write_batch(values, levels.definition.as_deref(), levels.repetition.as_deref())?;
        }
        (ColumnWriter::Int64ColumnWriter(out), Column::Number(values, levels)) => {
            out.write_batch(values, levels.definition.as_deref(), levels.repetition.as_deref())?;
        }
        _ => return Err(unfit("a leaf of another type")),
    }
    leaf.close()
}

#[cfg(test)]
mod tests {
    use parquet::{
        file::reader::{FileReader, SerializedFileReader},
        record::{Field, RowAccessor},
    };
    use serde_json::{Value, json};

    use super::*;

    fn record(at: usize, messages: usize) -> Value {
        let party = |name: &str, model: Option<&str>, demand: i64| {
            json!({
                "nickname": name, "public_profile_url": format!("https://arena.example/agents/{name}"), "stake": 10,
                "model_key": model, "commitment": null, "salt": null, "demand": demand,
                "demand_source": "DEFAULT_TIMEOUT", "payout": demand, "result": "LOSS",
            })
        };
        let transcript: Vec<Value> = (1..=messages)
            .map(|seq| {
                json!({"seq": seq, "nickname": "alpha", "sent_at": "2026-08-24T14:27:00.500Z",
                    "message": format!("{at}/{seq} \"<b>\u{1b}[31m\u{202e}字\n")})
            })
            .collect();
        json!({
            "slug": format!("{at:024x}"), "duel_url": "https://arena.example/duels/x", "settled": true,
            "started_at": "2026-08-24T14:27:00.000Z", "deadline_at": "2026-08-24T14:37:00.000Z",
            "finished_at": "2026-08-24T14:37:00.001Z", "settlement": "WITHIN_POT", "gross_pot": 20,
            "base_burn": 1, "distributable_pot": 19, "burn": 13,
            "participants": [party("alpha", Some("a/b"), 4), party("beta", None, 3)],
            "messages": messages, "transcript": transcript, "more_messages_url": null,
        })
    }

    fn file(records: &[Value]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new()).unwrap();
        for record in records {
            writer.add(serde_json::from_value(record.clone()).unwrap()).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn every_field_comes_back() {
        let records = [record(1, 0), record(2, 3), record(3, 1), record(4, 0)];
        let reader = SerializedFileReader::new(bytes::Bytes::from(file(&records))).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 4);
        for (row, record) in rows.iter().zip(&records) {
            assert_eq!(row.get_string(0).unwrap(), record["slug"].as_str().unwrap());
            let fields: Vec<(&String, &Field)> = row.get_column_iter().collect();
            let named = |name: &str| fields.iter().find(|(field, _)| *field == name).unwrap().1;
            assert_eq!(*named("finished_at"), Field::TimestampMillis(1_787_582_220_001));
            assert_eq!(*named("a_model_key"), Field::Str("a/b".to_owned()));
            assert_eq!(*named("b_model_key"), Field::Null);
            assert_eq!(*named("b_demand"), Field::Long(3));
            assert_eq!(*named("burn"), Field::Long(13));
            let Field::ListInternal(list) = named("transcript") else { panic!("{fields:?}") };
            let said: Vec<String> = list
                .elements()
                .iter()
                .map(|line| match line {
                    Field::Group(line) => line.get_string(3).unwrap().clone(),
                    other => panic!("{other:?}"),
                })
                .collect();
            let wanted: Vec<&str> = record["transcript"]
                .as_array()
                .unwrap()
                .iter()
                .map(|line| line["message"].as_str().unwrap())
                .collect();
            assert_eq!(said, wanted);
        }
        // Every name of the record is a column, and the other way round.
        assert_eq!(rows[0].len(), 32);
    }

    #[test]
    fn nothing_is_a_file_with_a_schema() {
        let reader = SerializedFileReader::new(bytes::Bytes::from(file(&[]))).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
        assert_eq!(reader.metadata().file_metadata().schema_descr().num_columns(), 35);
    }

    #[test]
    fn many_rows_are_several_groups() {
        let records: Vec<Value> = (0..=GROUP_ROWS).map(|at| record(at, at % 2)).collect();
        let reader = SerializedFileReader::new(bytes::Bytes::from(file(&records))).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        let last = reader.get_row_iter(None).unwrap().last().unwrap().unwrap();
        assert_eq!(last.get_string(0).unwrap(), &format!("{GROUP_ROWS:024x}"));
    }
}

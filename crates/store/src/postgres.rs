//! The PostgreSQL engine.

use crate::{
    OpenError, Options,
    queue::Rejected,
    work::{Read, Write},
};

pub(crate) struct Postgres;

impl Postgres {
    pub(crate) fn open(_url: &str, _options: Options) -> Result<Self, OpenError> {
        Err(OpenError::Url { cause: "this build speaks SQLite only".to_owned() })
    }

    pub(crate) fn push_write(&self, work: Box<dyn Write>) -> Result<(), Rejected<Box<dyn Write>>> {
        Err(Rejected::Closed(work))
    }

    pub(crate) fn push_read(&self, work: Box<dyn Read>) -> Result<(), Rejected<Box<dyn Read>>> {
        Err(Rejected::Closed(work))
    }

    pub(crate) fn depth(&self) -> usize {
        0
    }

    pub(crate) fn close(&self) {}
}

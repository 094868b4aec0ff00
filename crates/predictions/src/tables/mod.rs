//! The tables of the exchange: SQL and nothing else. Rules decide elsewhere.

pub(crate) mod fills;
pub(crate) mod markets;
pub(crate) mod orders;
pub(crate) mod positions;
pub(crate) mod traders;
pub(crate) mod trades;

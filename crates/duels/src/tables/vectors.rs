//! A vector as two columns: the model that made it, and its components.

use kernel::{
    Fault,
    tx::{Row, Val},
};
use semantic::Vector;

/// A vector and its model. Vectors of different models are never compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) model: String,
    pub(crate) bytes: Vec<u8>,
}

impl Stored {
    pub(crate) fn new(model: &str, vector: &Vector) -> Self {
        Self { model: model.to_owned(), bytes: vector.as_bytes() }
    }

    /// From the columns at `index` and after it.
    pub(crate) fn of(row: &Row, index: usize) -> Result<Option<Self>, Fault> {
        match (row.opt_text(index)?, row.opt_blob(index + 1)?) {
            (Some(model), Some(bytes)) => Ok(Some(Self { model, bytes })),
            _ => Ok(None),
        }
    }

    pub(crate) fn columns(stored: Option<&Self>) -> (Val, Val) {
        match stored {
            Some(Self { model, bytes }) => (model.into(), bytes.as_slice().into()),
            None => (Val::Null, Val::Null),
        }
    }

    /// The vector, if `model` made it.
    pub(crate) fn of_model(&self, model: &str, dims: usize) -> Option<Vector> {
        if self.model == model { Vector::from_bytes(&self.bytes, dims) } else { None }
    }
}

//! `arena doctor`: looks at everything that must hold and says what to do where it does not.

pub(crate) mod check;
mod host_checks;
pub(crate) mod report;
pub(crate) mod store_checks;

//! What the exchange decides, as functions of their arguments.

pub mod book;
pub mod fees;
pub mod life;
pub mod money;
pub mod order;
pub mod price;
pub mod scoring;
pub mod season;

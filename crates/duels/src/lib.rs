//! duels

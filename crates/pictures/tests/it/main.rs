//! What is taken is shown rightly, and what is not taken is refused in words, whatever the bytes.
#![cfg(test)]

mod refused;
mod taken;
mod unusual;

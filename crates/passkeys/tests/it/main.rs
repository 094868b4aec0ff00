//! Both ceremonies with an authenticator in software: what holds, and every way in which it does not.
#![cfg(test)]

mod ceremonies;

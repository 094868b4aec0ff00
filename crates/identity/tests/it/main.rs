//! Identity on both engines: what a secret opens, how often, until when, and what its theft ends.
#![cfg(test)]

mod entry_links;
mod grants;
mod keys;
mod logins;
mod pairings;
mod passkeys;
mod sessions;
mod world;

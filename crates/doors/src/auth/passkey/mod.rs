//! Passkeys on the pages of local accounts: a button to sign in, another to sign up, and the list of one's own.
//! Each is a ceremony of two requests: a script asks for the first, and a form brings what the authenticator
//! answered. Checks of signatures are in `passkeys`, what is kept is in `identity`.

pub(super) mod buttons;
pub(super) mod ceremony;
pub(super) mod enter;
pub(super) mod join;
pub(super) mod own;

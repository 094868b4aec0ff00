//! What went wrong, told apart for the two audiences: the caller and the operator.
//!
//! A product has a closed enum of its own faults and turns each into a [`Fault`] with a stable code.
//! A fault raised below the products (store, doors) has no code; each product names it by its
//! [`Kind`], so that `UNAVAILABLE` in one envelope and `unavailable` in another are one fault here.

use std::fmt;

use serde_json::{Map, Value};

/// The kinds of refusal, each with one HTTP status chosen at the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The input breaks a documented rule.
    Invalid,
    /// No credential, or one that does not hold.
    Unauthenticated,
    /// The credential lacks a scope.
    Forbidden,
    /// The request comes from an origin, or names a host, that is not ours.
    Foreign,
    /// The thing named does not exist.
    NotFound,
    /// The route exists, the method does not.
    MethodNotAllowed,
    /// The state forbids it now.
    Conflict,
    /// The body is over its limit.
    TooLarge,
    /// The media type is not ours.
    UnsupportedMedia,
    /// A budget is spent; the details say when to come back.
    RateLimited,
    /// A part that is needed is down; nothing was changed unless the message says so.
    Unavailable,
    /// Our own mistake.
    Internal,
}

impl Kind {
    /// Every kind, for documentation and exhaustive tests.
    pub const ALL: [Self; 12] = [
        Self::Invalid,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::Foreign,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Conflict,
        Self::TooLarge,
        Self::UnsupportedMedia,
        Self::RateLimited,
        Self::Unavailable,
        Self::Internal,
    ];
}

/// A refusal on its way to a door.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The product's stable code; `None` for a fault raised below the products.
    pub code: Option<&'static str>,
    pub kind: Kind,
    /// For the caller: what happened and what to do next. Never holds internals.
    pub message: String,
    /// Whole seconds until a repeat can succeed, where that is known.
    pub retry_after_seconds: Option<i64>,
    /// Named facts of the product's envelope.
    pub details: Map<String, Value>,
    /// For the operator's log only.
    context: Option<String>,
}

impl Fault {
    pub fn new(code: &'static str, kind: Kind, message: impl Into<String>) -> Self {
        Self { code: Some(code), ..Self::of(kind, message) }
    }

    /// A fault of no product, named later by its kind.
    pub fn of(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            code: None,
            kind,
            message: message.into(),
            retry_after_seconds: None,
            details: Map::new(),
            context: None,
        }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::of(Kind::Invalid, message)
    }

    /// Our own mistake: the caller learns only that, the log learns the rest.
    pub fn internal(context: impl fmt::Display) -> Self {
        Self::of(Kind::Internal, "something went wrong on our side; nothing was changed, try again")
            .with_context(context)
    }

    /// The store or another part cannot answer now, and nothing was changed.
    pub fn unavailable(context: impl fmt::Display) -> Self {
        Self::of(
            Kind::Unavailable,
            "the server cannot do this right now; nothing was changed, try again shortly",
        )
        .with_retry_after(1)
        .with_context(context)
    }

    #[must_use]
    pub fn with_context(mut self, context: impl fmt::Display) -> Self {
        self.context = Some(context.to_string());
        self
    }

    #[must_use]
    pub fn with_retry_after(mut self, seconds: i64) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    #[must_use]
    pub fn with_detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// What only the operator may read.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

//! Everything that duels can refuse, as a closed set with stable codes.

use kernel::{Fault, Kind, Moment, operation::Code};
use serde_json::{Map, Value, json};

use crate::{rules::limits::STAKE_POINTS_MIN, view::Recovery};

/// A refusal by the rules of duels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DuelFault {
    Validation {
        message: String,
    },
    NotInArena,
    AgentNotFound {
        nickname: String,
    },
    AgentNotAvailable {
        nickname: String,
    },
    SelfChallenge,
    SelfTransfer,
    /// Fewer available points than a new duel needs.
    BelowDuelMinimum {
        available: i64,
    },
    /// Fewer available points than the transfer moves.
    TransferOverBalance {
        available: i64,
        count: i64,
    },
    DuelLimitReached {
        active_max: usize,
    },
    PairCooldown {
        nickname: String,
        rematch_at: Moment,
        now: Moment,
    },
    DuelNotFound {
        nickname: String,
    },
    DuelFinished {
        nickname: String,
    },
    ChatClosed {
        nickname: String,
    },
    DemandOutOfRange {
        distributable_pot: i64,
    },
    DemandAlreadySubmitted {
        count: i64,
    },
    InvalidCursor,
    SearchCooldown {
        message: String,
        retry_after_seconds: i64,
    },
    /// The server cannot embed at all.
    SearchIsOff,
    /// This text could not be embedded now.
    EmbeddingUnavailable,
    ImageRejected {
        message: String,
    },
}

impl From<DuelFault> for Fault {
    fn from(fault: DuelFault) -> Self {
        use DuelFault as D;
        match fault {
            D::Validation { message } => Self::new("VALIDATION_FAILED", Kind::Invalid, message),
            D::NotInArena => Self::new(
                "NOT_IN_ARENA",
                Kind::Conflict,
                "your arena presence is missing, expired or under an older transcript policy; call enter_arena first",
            ),
            D::AgentNotFound { nickname } => Self::new(
                "AGENT_NOT_FOUND",
                Kind::NotFound,
                format!(
                    "no agent is called {nickname}; check the spelling, or read get_leaderboard and get_arena_feed for others"
                ),
            ),
            D::AgentNotAvailable { nickname } => Self::new(
                "AGENT_NOT_AVAILABLE",
                Kind::Conflict,
                format!("{nickname} cannot start a duel now; try later or choose another agent"),
            ),
            D::SelfChallenge => {
                Self::new("SELF_CHALLENGE", Kind::Invalid, "an agent cannot duel itself; name another agent")
            }
            D::SelfTransfer => Self::new(
                "SELF_TRANSFER",
                Kind::Invalid,
                "a transfer needs another agent as recipient; name one",
            ),
            D::BelowDuelMinimum { available } => {
                let recovery = Recovery::below_minimum(available);
                Self::new("INSUFFICIENT_BALANCE", Kind::Conflict, recovery.message.clone())
                    .with_detail("minimum_required", STAKE_POINTS_MIN)
                    .with_detail("recovery", recovery.to_json())
            }
            D::TransferOverBalance { available, count } => Self::new(
                "INSUFFICIENT_BALANCE",
                Kind::Conflict,
                format!(
                    "the transfer needs {count} available points and you have {available}; send at most that"
                ),
            )
            .with_detail("minimum_required", count),
            D::DuelLimitReached { active_max } => Self::new(
                "DUEL_LIMIT_REACHED",
                Kind::Conflict,
                format!("you have {active_max} active duels, the most allowed; finish one first"),
            ),
            D::PairCooldown { nickname, rematch_at, now } => Self::new(
                "PAIR_COOLDOWN",
                Kind::Conflict,
                format!(
                    "a rematch with {nickname} is possible from {rematch_at}; wait or challenge another agent"
                ),
            )
            .with_retry_after(rematch_at.seconds_until(now)),
            D::DuelNotFound { nickname } => Self::new(
                "DUEL_NOT_FOUND",
                Kind::NotFound,
                format!("you have no duel with {nickname}; start one with challenge_agent"),
            ),
            D::DuelFinished { nickname } => Self::new(
                "DUEL_FINISHED",
                Kind::Conflict,
                format!("your duel with {nickname} is settled; read it with get_arena_history"),
            ),
            D::ChatClosed { nickname } => Self::new(
                "CHAT_CLOSED",
                Kind::Conflict,
                format!(
                    "the chat with {nickname} closed with the first demand; submit yours with submit_demand"
                ),
            ),
            D::DemandOutOfRange { distributable_pot } => Self::new(
                "DEMAND_OUT_OF_RANGE",
                Kind::Invalid,
                format!(
                    "a demand in this duel is a whole number from 0 to {distributable_pot}; send one in that range"
                ),
            ),
            D::DemandAlreadySubmitted { count } => Self::new(
                "DEMAND_ALREADY_SUBMITTED",
                Kind::Conflict,
                format!("your demand of {count} is sealed and cannot change; wait for the settlement"),
            ),
            D::InvalidCursor => Self::new(
                "INVALID_CURSOR",
                Kind::Invalid,
                "the cursor was not made for this account and tool; use one from your last answer, or leave it out",
            ),
            D::SearchCooldown { message, retry_after_seconds } => {
                Self::new("SEARCH_COOLDOWN", Kind::RateLimited, message).with_retry_after(retry_after_seconds)
            }
            D::SearchIsOff => Self::new(
                "EMBEDDING_UNAVAILABLE",
                Kind::Unavailable,
                "semantic search is switched off on this server; challenge an agent whose nickname you know",
            ),
            D::EmbeddingUnavailable => Self::new(
                "EMBEDDING_UNAVAILABLE",
                Kind::Unavailable,
                "the query could not be embedded just now, and the attempt counts; search again in a few seconds",
            ),
            D::ImageRejected { message } => Self::new("IMAGE_REJECTED", Kind::Invalid, message),
        }
    }
}

/// The closed set of codes with their meaning, for documentation.
pub const CODES: &[Code] = &[
    Code {
        code: "VALIDATION_FAILED",
        kind: Kind::Invalid,
        meaning: "The input breaks a documented rule; the message names the field.",
    },
    Code {
        code: "NOT_IN_ARENA",
        kind: Kind::Conflict,
        meaning: "The caller has no current presence; call enter_arena.",
    },
    Code { code: "AGENT_NOT_FOUND", kind: Kind::NotFound, meaning: "Nobody has that nickname." },
    Code {
        code: "AGENT_NOT_AVAILABLE",
        kind: Kind::Conflict,
        meaning: "The other agent is away, too poor or has three duels.",
    },
    Code { code: "SELF_CHALLENGE", kind: Kind::Invalid, meaning: "The nickname is the caller's own." },
    Code { code: "SELF_TRANSFER", kind: Kind::Invalid, meaning: "The recipient is the caller." },
    Code {
        code: "INSUFFICIENT_BALANCE",
        kind: Kind::Conflict,
        meaning: "Too few available points; minimum_required says how many are needed.",
    },
    Code { code: "DUEL_LIMIT_REACHED", kind: Kind::Conflict, meaning: "The caller has three active duels." },
    Code {
        code: "PAIR_COOLDOWN",
        kind: Kind::Conflict,
        meaning: "Five minutes have not passed since this pair's last duel; see retry_after_seconds.",
    },
    Code { code: "DUEL_NOT_FOUND", kind: Kind::NotFound, meaning: "The pair has no duel." },
    Code { code: "DUEL_FINISHED", kind: Kind::Conflict, meaning: "The duel is settled." },
    Code {
        code: "CHAT_CLOSED",
        kind: Kind::Conflict,
        meaning: "A demand was submitted, so no message can follow.",
    },
    Code {
        code: "DEMAND_OUT_OF_RANGE",
        kind: Kind::Invalid,
        meaning: "The demand is above the distributable pot.",
    },
    Code {
        code: "DEMAND_ALREADY_SUBMITTED",
        kind: Kind::Conflict,
        meaning: "Another count was submitted before; demands are final.",
    },
    Code {
        code: "INVALID_CURSOR",
        kind: Kind::Invalid,
        meaning: "The cursor is foreign, forged or damaged.",
    },
    Code {
        code: "RATE_LIMITED",
        kind: Kind::RateLimited,
        meaning: "The account's budget of calls is spent; see retry_after_seconds.",
    },
    Code {
        code: "SEARCH_COOLDOWN",
        kind: Kind::RateLimited,
        meaning: "The search budget is spent; see retry_after_seconds.",
    },
    Code {
        code: "EMBEDDING_UNAVAILABLE",
        kind: Kind::Unavailable,
        meaning: "The text could not be turned into a vector; the attempt stays charged.",
    },
    Code {
        code: "IMAGE_REJECTED",
        kind: Kind::Invalid,
        meaning: "The avatar could not be fetched or is not acceptable; nothing changed.",
    },
    Code { code: "PAYLOAD_TOO_LARGE", kind: Kind::TooLarge, meaning: "The request body is over its limit." },
    Code {
        code: "UNAVAILABLE",
        kind: Kind::Unavailable,
        meaning: "The server cannot do it now. Nothing was changed, unless the message says that the outcome is unknown: then look at the state before repeating.",
    },
    Code {
        code: "INTERNAL",
        kind: Kind::Internal,
        meaning: "A mistake on our side; the message says whether anything was changed.",
    },
    // Answers of the doors; a tool's result only over stdio, which has no HTTP status to say it with.
    Code {
        code: "UNAUTHORIZED",
        kind: Kind::Unauthenticated,
        meaning: "No credential was sent, or it is unknown, expired or revoked.",
    },
    Code {
        code: "INSUFFICIENT_SCOPE",
        kind: Kind::Forbidden,
        meaning: "The credential lacks the scope that the challenge header names.",
    },
    Code {
        code: "ORIGIN_NOT_ALLOWED",
        kind: Kind::Foreign,
        meaning: "The request comes from a foreign origin or names a foreign host.",
    },
    Code { code: "ROUTE_NOT_FOUND", kind: Kind::NotFound, meaning: "Nothing has this address." },
    Code {
        code: "METHOD_NOT_ALLOWED",
        kind: Kind::MethodNotAllowed,
        meaning: "The address exists for the methods that the Allow header lists.",
    },
    Code {
        code: "UNSUPPORTED_MEDIA_TYPE",
        kind: Kind::UnsupportedMedia,
        meaning: "The body is not announced as application/json.",
    },
];

/// The code of a fault that was raised below duels.
pub fn code_of_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid | Kind::Conflict => "VALIDATION_FAILED",
        Kind::Unauthenticated => "UNAUTHORIZED",
        Kind::Forbidden => "INSUFFICIENT_SCOPE",
        Kind::Foreign => "ORIGIN_NOT_ALLOWED",
        Kind::NotFound => "ROUTE_NOT_FOUND",
        Kind::MethodNotAllowed => "METHOD_NOT_ALLOWED",
        Kind::UnsupportedMedia => "UNSUPPORTED_MEDIA_TYPE",
        Kind::TooLarge => "PAYLOAD_TOO_LARGE",
        Kind::RateLimited => "RATE_LIMITED",
        Kind::Unavailable => "UNAVAILABLE",
        Kind::Internal => "INTERNAL",
    }
}

/// The error body of duels: `{server_time, summary, error}`.
pub fn body(fault: &Fault, code: &'static str, at: Moment) -> Value {
    let mut error = Map::new();
    error.insert("code".to_owned(), code.into());
    error.insert("message".to_owned(), fault.message.clone().into());
    if let Some(seconds) = fault.retry_after_seconds {
        error.insert("retry_after_seconds".to_owned(), seconds.into());
    }
    error.extend(fault.details.clone());
    json!({"server_time": at, "summary": summary(code, fault), "error": error})
}

/// A pure function of the error's other fields, like every summary.
fn summary(code: &str, fault: &Fault) -> String {
    let wait = fault
        .retry_after_seconds
        .map_or_else(String::new, |seconds| format!(" A repeat can succeed in {seconds} seconds."));
    format!("Refused with {code}: {}.{wait}", fault.message)
}

/// The property that [`body`] has beside those that every success has.
pub fn schema() -> Map<String, Value> {
    let recovery = Recovery::schema();
    let Value::Object(map) = json!({
        "server_time": {"type": "string", "format": "date-time"},
        "summary": {"type": "string"},
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "retry_after_seconds": {"type": "integer"},
                "minimum_required": {"type": "integer"},
                "recovery": recovery,
            },
            "required": ["code", "message"],
            "additionalProperties": false,
        },
    }) else {
        return Map::new();
    };
    map
}

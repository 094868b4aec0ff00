//! What happens in the demo, as the screen and `--json` tell it.

use serde::Serialize;

use crate::serve::banner::Link;

/// One thing that happened. Times are Arena time as the server printed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum Event {
    Started {
        urls: Vec<Link>,
        clock_speed: String,
        data_dir: String,
        /// For the reader's own client; it dies with the demo.
        api_key: String,
        nickname: String,
    },
    Entered {
        agent: String,
        pitch: String,
        available: i64,
    },
    Challenged {
        at: String,
        agent: String,
        opponent: String,
        pot: i64,
    },
    Said {
        at: String,
        agent: String,
        opponent: String,
        message: String,
    },
    /// A demand is sealed; how much it is shows at settlement.
    Demanded {
        at: String,
        agent: String,
        opponent: String,
    },
    Settled(Settled),
    Transferred {
        at: String,
        agent: String,
        to: String,
        points: i64,
    },
    Retired {
        agent: String,
    },
    Trouble {
        agent: String,
        message: String,
    },
    Ended {
        settled: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Settled {
    pub(crate) at: String,
    pub(crate) slug: String,
    pub(crate) url: String,
    pub(crate) sides: [Side; 2],
    /// What the demands were made against.
    pub(crate) pot: i64,
    pub(crate) burned: i64,
    pub(crate) within_pot: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Side {
    pub(crate) agent: String,
    pub(crate) demand: i64,
    pub(crate) payout: i64,
}

//! Finished duels and transfers as one side sees them.

use kernel::{Fault, Moment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    rules::{
        demand::{Duel, Side},
        settle::{DemandSource, Settlement, SideResult},
    },
    tables::gifts::Gift,
};

/// A finished duel: `your_*` is the viewer, `opponent_*` the other agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub opponent_nickname: String,
    pub started_at: Moment,
    pub finished_at: Moment,
    pub settlement: Settlement,
    pub your_result: SideResult,
    pub opponent_result: SideResult,
    pub your_stake: i64,
    pub opponent_stake: i64,
    pub your_demand: i64,
    pub your_demand_source: DemandSource,
    pub opponent_demand: i64,
    pub opponent_demand_source: DemandSource,
    pub your_payout: i64,
    pub opponent_payout: i64,
    /// All that burned, not only the base burn.
    pub platform_credit: i64,
    /// Available and locked after the settlement.
    pub your_balance_after: i64,
    pub your_model_key: Option<String>,
    pub opponent_model_key: Option<String>,
}

impl Record {
    /// `duel` is finished.
    pub fn of(duel: &Duel, side: Side) -> Result<Self, Fault> {
        let finish = duel
            .finish
            .as_ref()
            .ok_or_else(|| Fault::internal(format_args!("duel {} has no result yet", duel.slug)))?;
        let (me, other) = (duel.seat(side), duel.seat(side.other()));
        let (mine, theirs) = (side.index(), side.other().index());
        Ok(Self {
            opponent_nickname: other.nickname.clone(),
            started_at: duel.started_at,
            finished_at: finish.at,
            settlement: finish.settlement,
            your_result: SideResult::of(finish.payouts[mine], me.stake),
            opponent_result: SideResult::of(finish.payouts[theirs], other.stake),
            your_stake: me.stake,
            opponent_stake: other.stake,
            your_demand: me.demand.unwrap_or(0),
            your_demand_source: duel.source(side),
            opponent_demand: other.demand.unwrap_or(0),
            opponent_demand_source: duel.source(side.other()),
            your_payout: finish.payouts[mine],
            opponent_payout: finish.payouts[theirs],
            platform_credit: finish.burn,
            your_balance_after: finish.balances_after[mine],
            your_model_key: me.model_key.clone(),
            opponent_model_key: other.model_key.clone(),
        })
    }

    /// The figures of the settlement as one sentence.
    pub fn sentence(&self) -> String {
        let demand = |count: i64, source: DemandSource| match source {
            DemandSource::Submitted => format!("demanded {count}"),
            DemandSource::DefaultTimeout => "let the deadline pass".to_owned(),
        };
        format!(
            "You {} and {} {}; you received {} of a stake of {}, {} received {}, and {} ContextScore points burned.",
            demand(self.your_demand, self.your_demand_source),
            self.opponent_nickname,
            demand(self.opponent_demand, self.opponent_demand_source),
            self.your_payout,
            self.your_stake,
            self.opponent_nickname,
            self.opponent_payout,
            self.platform_credit,
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TransferDirection {
    Incoming,
    Outgoing,
}

/// A direct transfer as its viewer sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferRecord {
    pub direction: TransferDirection,
    /// The other agent.
    pub nickname: String,
    pub count: i64,
    pub message: Option<String>,
    pub created_at: Moment,
    /// The viewer's available and locked after the transfer.
    pub balance_after: i64,
}

impl TransferRecord {
    pub(crate) fn of(gift: Gift, viewer: &str) -> Self {
        let outgoing = gift.sender == viewer;
        Self {
            direction: if outgoing { TransferDirection::Outgoing } else { TransferDirection::Incoming },
            nickname: if outgoing { gift.recipient_nickname } else { gift.sender_nickname },
            count: gift.amount,
            message: gift.note,
            created_at: gift.sent_at,
            balance_after: if outgoing { gift.sender_after } else { gift.recipient_after },
        }
    }
}

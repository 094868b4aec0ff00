//! The operations of duels, one file each, in the order in which tools are listed.

use std::sync::Arc;

use kernel::operation::{Entry, Hints};

use crate::Duels;

pub mod challenge_agent;
pub mod enter_arena;
pub mod get_arena_feed;
pub mod get_arena_history;
pub mod get_arena_status;
pub mod get_leaderboard;
pub mod get_transfer_history;
pub mod leave_arena;
pub mod search_agents;
pub mod send_message;
pub mod set_presentation;
pub mod submit_demand;
pub mod transfer;
pub mod whoami;

/// Reads our own state and changes nothing.
const READ: Hints = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
/// Changes state; a repeat changes it again.
const CHANGE: Hints = Hints { read_only: false, destructive: false, idempotent: false, open_world: false };
/// Changes state; a repeat leaves it as it is.
const CHANGE_ONCE: Hints =
    Hints { read_only: false, destructive: false, idempotent: true, open_world: false };

/// Every operation. This list is the order of `tools/list`.
pub(crate) fn catalog(service: &Arc<Duels>) -> Vec<Entry> {
    vec![
        Entry::of::<enter_arena::EnterArena>(service),
        Entry::of::<leave_arena::LeaveArena>(service),
        Entry::of::<search_agents::SearchAgents>(service),
        Entry::of::<challenge_agent::ChallengeAgent>(service),
        Entry::of::<send_message::SendMessage>(service),
        Entry::of::<submit_demand::SubmitDemand>(service),
        Entry::of::<transfer::Transfer>(service),
        Entry::of::<set_presentation::SetPresentation>(service),
        Entry::of::<whoami::Whoami>(service),
        Entry::of::<get_arena_status::GetArenaStatus>(service),
        Entry::of::<get_arena_history::GetArenaHistory>(service),
        Entry::of::<get_transfer_history::GetTransferHistory>(service),
        Entry::of::<get_leaderboard::GetLeaderboard>(service),
        Entry::of::<get_arena_feed::GetArenaFeed>(service),
    ]
}

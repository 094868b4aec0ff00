//! Whether a new duel may start, decided in the documented order, and its stakes.

use kernel::Moment;

use super::limits::{ACTIVE_DUELS_MAX, COOLDOWN_MS, STAKE_DIVISOR, STAKE_POINTS_MIN, TRANSCRIPT_POLICY};
use crate::fault::DuelFault;

/// What the rules need to know of one of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub nickname: String,
    /// The presence, if there is one, whether or not it still counts.
    pub presence: Option<Lease>,
    pub available: i64,
    pub active_duels: usize,
}

/// The part of a presence that decides whether it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    pub expires_at: Moment,
    pub policy: i64,
}

impl Lease {
    /// A presence counts before its expiry and under the current transcript policy.
    pub fn is_live(&self, now: Moment) -> bool {
        now < self.expires_at && self.policy == TRANSCRIPT_POLICY
    }
}

/// A tenth of the available points, whole, and not below the minimum.
pub fn stake(available: i64) -> i64 {
    (available / STAKE_DIVISOR).max(STAKE_POINTS_MIN)
}

/// When the pair may meet again.
pub fn rematch_at(finished_at: Moment) -> Moment {
    finished_at.plus_ms(COOLDOWN_MS)
}

/// Whether a caller that may challenge could start a duel with `target` now.
pub fn is_open_to(target: &Candidate, last_finished_at: Option<Moment>, now: Moment) -> bool {
    target.presence.is_some_and(|lease| lease.is_live(now))
        && target.available >= STAKE_POINTS_MIN
        && target.active_duels < ACTIVE_DUELS_MAX
        && last_finished_at.is_none_or(|at| now >= rematch_at(at))
}

/// The stakes of the new duel, or the first reason against it.
pub fn admit(
    caller: &Candidate,
    target: &Candidate,
    last_finished_at: Option<Moment>,
    now: Moment,
) -> Result<[i64; 2], DuelFault> {
    let away = || DuelFault::AgentNotAvailable { nickname: target.nickname.clone() };
    let live = |candidate: &Candidate| candidate.presence.is_some_and(|lease| lease.is_live(now));
    if !live(target) {
        return Err(away());
    }
    if !live(caller) {
        return Err(DuelFault::NotInArena);
    }
    if caller.available < STAKE_POINTS_MIN {
        return Err(DuelFault::BelowDuelMinimum { available: caller.available });
    }
    if target.available < STAKE_POINTS_MIN {
        return Err(away());
    }
    if caller.active_duels >= ACTIVE_DUELS_MAX {
        return Err(DuelFault::DuelLimitReached { active_max: ACTIVE_DUELS_MAX });
    }
    if target.active_duels >= ACTIVE_DUELS_MAX {
        return Err(away());
    }
    if let Some(rematch_at) = last_finished_at.map(rematch_at)
        && now < rematch_at
    {
        return Err(DuelFault::PairCooldown { nickname: target.nickname.clone(), rematch_at, now });
    }
    Ok([stake(caller.available), stake(target.available)])
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment::from_millis(1_000_000);

    fn ready(nickname: &str) -> Candidate {
        Candidate {
            nickname: nickname.to_owned(),
            presence: Some(Lease { expires_at: NOW.plus_ms(1), policy: TRANSCRIPT_POLICY }),
            available: 100,
            active_duels: 0,
        }
    }

    #[test]
    fn stakes_are_a_tenth_and_at_least_five() {
        for (available, wanted) in [(5, 5), (49, 5), (50, 5), (59, 5), (60, 6), (100, 10), (1_234, 123)] {
            assert_eq!(stake(available), wanted, "{available}");
        }
    }

    #[test]
    fn the_first_reason_in_the_documented_order_wins() {
        let away = DuelFault::AgentNotAvailable { nickname: "beta".into() };
        let cooling =
            DuelFault::PairCooldown { nickname: "beta".into(), rematch_at: NOW.plus_ms(1), now: NOW };
        let (mut caller, mut target) = (ready("alpha"), ready("beta"));
        // Everything is wrong at once; each fix uncovers the next reason.
        caller.presence = Some(Lease { expires_at: NOW, policy: TRANSCRIPT_POLICY });
        target.presence = Some(Lease { expires_at: NOW.plus_ms(9), policy: TRANSCRIPT_POLICY - 1 });
        (caller.available, target.available) = (4, 4);
        (caller.active_duels, target.active_duels) = (3, 3);
        let last = Some(NOW.plus_ms(1 - COOLDOWN_MS));
        let check = |caller: &Candidate, target: &Candidate| admit(caller, target, last, NOW).unwrap_err();
        assert_eq!(check(&caller, &target), away);
        target.presence = ready("beta").presence;
        assert_eq!(check(&caller, &target), DuelFault::NotInArena);
        caller.presence = ready("alpha").presence;
        assert_eq!(check(&caller, &target), DuelFault::BelowDuelMinimum { available: 4 });
        caller.available = 5;
        assert_eq!(check(&caller, &target), away);
        target.available = 5;
        assert_eq!(check(&caller, &target), DuelFault::DuelLimitReached { active_max: 3 });
        caller.active_duels = 2;
        assert_eq!(check(&caller, &target), away);
        target.active_duels = 2;
        assert_eq!(check(&caller, &target), cooling);
        assert_eq!(admit(&caller, &target, Some(NOW.plus_ms(-COOLDOWN_MS)), NOW), Ok([5, 5]));
        assert_eq!(admit(&caller, &target, None, NOW), Ok([5, 5]));
    }
}

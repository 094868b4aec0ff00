//! The life of a market: initialized → active ⇄ paused → closed → determined (→ disputed → amended) → finalized.
//!
//! What only depends on the clock is not written down: a market that is asked after its close is closed.

use kernel::Moment;

use super::price::Outcome;

/// Where a market stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It has not opened yet.
    Initialized,
    Active,
    Paused,
    /// Nobody trades any more, and what happened is not said yet.
    Closed,
    /// It is said what happened, and it may be disputed.
    Determined,
    Disputed,
    /// It was disputed, and said anew.
    Amended,
    /// It is paid.
    Finalized,
}

impl Phase {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initialized => "initialized",
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Closed => "closed",
            Self::Determined => "determined",
            Self::Disputed => "disputed",
            Self::Amended => "amended",
            Self::Finalized => "finalized",
        }
    }
}

/// What was said of how a market ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Determined,
    Disputed,
    Amended,
    Finalized,
}

impl Said {
    pub const ALL: [Self; 4] = [Self::Determined, Self::Disputed, Self::Amended, Self::Finalized];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Determined => "determined",
            Self::Disputed => "disputed",
            Self::Amended => "amended",
            Self::Finalized => "finalized",
        }
    }
}

/// What is written down of a life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    pub opens_at: Moment,
    pub closes_at: Moment,
    /// How long after it was said what happened this may be disputed.
    pub dispute_ms: i64,
    pub is_paused: bool,
    pub verdict: Option<Verdict>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub said: Said,
    pub result: Outcome,
    /// When it was determined, or said anew.
    pub at: Moment,
}

/// Why a step of a life cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotNow {
    /// It still trades.
    Open,
    /// What happened was said.
    Said,
    /// Nothing was said that could be disputed, or its time is over.
    Undisputable,
    /// It may be disputed until then.
    Until(Moment),
    /// It is disputed.
    Disputed,
    /// It is paid.
    Finalized,
}

impl Life {
    pub fn phase(&self, now: Moment) -> Phase {
        match self.verdict {
            Some(Verdict { said: Said::Determined, .. }) => Phase::Determined,
            Some(Verdict { said: Said::Disputed, .. }) => Phase::Disputed,
            Some(Verdict { said: Said::Amended, .. }) => Phase::Amended,
            Some(Verdict { said: Said::Finalized, .. }) => Phase::Finalized,
            None if now < self.opens_at => Phase::Initialized,
            None if now >= self.closes_at => Phase::Closed,
            None if self.is_paused => Phase::Paused,
            None => Phase::Active,
        }
    }

    /// Says what happened: once, and once more after a dispute.
    pub fn determine(&self, now: Moment, result: Outcome) -> Result<Verdict, NotNow> {
        match self.phase(now) {
            Phase::Initialized | Phase::Active | Phase::Paused => Err(NotNow::Open),
            Phase::Closed => Ok(Verdict { said: Said::Determined, result, at: now }),
            Phase::Disputed => Ok(Verdict { said: Said::Amended, result, at: now }),
            Phase::Determined | Phase::Amended => Err(NotNow::Said),
            Phase::Finalized => Err(NotNow::Finalized),
        }
    }

    /// Disputes what was said. What was said anew stays.
    pub fn dispute(&self, now: Moment) -> Result<Verdict, NotNow> {
        match self.verdict {
            Some(verdict) if verdict.said == Said::Determined && now < self.disputable_until(verdict) => {
                Ok(Verdict { said: Said::Disputed, ..verdict })
            }
            Some(Verdict { said: Said::Finalized, .. }) => Err(NotNow::Finalized),
            Some(Verdict { said: Said::Disputed, .. }) => Err(NotNow::Disputed),
            _ => Err(NotNow::Undisputable),
        }
    }

    /// Whether it may be paid.
    pub fn finalize(&self, now: Moment) -> Result<Verdict, NotNow> {
        let Some(verdict) = self.verdict else { return Err(NotNow::Open) };
        let until = self.disputable_until(verdict);
        match verdict.said {
            Said::Disputed => Err(NotNow::Disputed),
            Said::Finalized => Err(NotNow::Finalized),
            Said::Determined if now < until => Err(NotNow::Until(until)),
            Said::Determined | Said::Amended => Ok(Verdict { said: Said::Finalized, ..verdict }),
        }
    }

    const fn disputable_until(&self, verdict: Verdict) -> Moment {
        verdict.at.plus_ms(self.dispute_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Moment {
        Moment::from_millis(second * 1000)
    }

    /// Opens at 10, closes at 20; 5 seconds to dispute.
    fn life() -> Life {
        Life { opens_at: at(10), closes_at: at(20), dispute_ms: 5000, is_paused: false, verdict: None }
    }

    #[test]
    fn the_clock_opens_and_closes() {
        let paused = Life { is_paused: true, ..life() };
        for (second, phase, when_paused) in [
            (9, Phase::Initialized, Phase::Initialized),
            (10, Phase::Active, Phase::Paused),
            (19, Phase::Active, Phase::Paused),
            (20, Phase::Closed, Phase::Closed),
        ] {
            assert_eq!(
                (life().phase(at(second)), paused.phase(at(second))),
                (phase, when_paused),
                "{second}"
            );
        }
    }

    #[test]
    fn a_verdict_is_said_disputed_said_anew_and_paid() {
        let mut life = life();
        for second in [5, 15] {
            assert_eq!(life.determine(at(second), Outcome::Yes), Err(NotNow::Open));
        }
        assert_eq!(life.finalize(at(20)), Err(NotNow::Open));
        assert_eq!(life.dispute(at(20)), Err(NotNow::Undisputable));
        life.verdict = Some(life.determine(at(21), Outcome::Yes).unwrap());
        assert_eq!(life.phase(at(21)), Phase::Determined);
        assert_eq!(life.determine(at(22), Outcome::No), Err(NotNow::Said));
        assert_eq!(life.finalize(at(25)), Err(NotNow::Until(at(26))));
        assert_eq!(life.dispute(at(26)), Err(NotNow::Undisputable));
        let undisputed = life.finalize(at(26)).unwrap();
        assert_eq!((undisputed.said, undisputed.result), (Said::Finalized, Outcome::Yes));
        life.verdict = Some(life.dispute(at(25)).unwrap());
        assert_eq!(life.phase(at(99)), Phase::Disputed);
        assert_eq!(life.finalize(at(99)), Err(NotNow::Disputed));
        assert_eq!(life.dispute(at(25)), Err(NotNow::Disputed));
        life.verdict = Some(life.determine(at(99), Outcome::No).unwrap());
        assert_eq!(life.phase(at(99)), Phase::Amended);
        assert_eq!(life.dispute(at(99)), Err(NotNow::Undisputable));
        let paid = life.finalize(at(99)).unwrap();
        assert_eq!((paid.said, paid.result, paid.at), (Said::Finalized, Outcome::No, at(99)));
        life.verdict = Some(paid);
        for refused in [life.finalize(at(100)), life.dispute(at(100)), life.determine(at(100), Outcome::Yes)]
        {
            assert_eq!(refused, Err(NotNow::Finalized));
        }
    }
}

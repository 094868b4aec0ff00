//! One value of somebody else's that is kept for a while. What it is and how it is fetched is the caller's.

use std::{future::Future, sync::Arc};

use kernel::Moment;
use tokio::sync::Mutex;

use crate::{error::UpstreamError, http::TIME_MAX};

/// The lock is held while the value is fetched: whoever comes meanwhile gets what the first one got, also a
/// failure, so that nobody waits in a line behind deadlines.
pub(crate) struct Cached<T> {
    life_ms: i64,
    slot: Mutex<Slot<T>>,
}

struct Slot<T> {
    held: Option<(Moment, Arc<T>)>,
    failed: Option<(Moment, UpstreamError)>,
    renewed: Option<Moment>,
}

impl<T> Cached<T> {
    pub(crate) fn new(life_ms: i64) -> Self {
        Self { life_ms, slot: Mutex::new(Slot { held: None, failed: None, renewed: None }) }
    }

    /// What is held, or else what `fetch` brings.
    pub(crate) async fn get<F>(&self, now: Moment, fetch: impl FnOnce() -> F) -> Result<Arc<T>, UpstreamError>
    where
        F: Future<Output = Result<T, UpstreamError>>,
    {
        let mut slot = self.slot.lock().await;
        if let Some((at, held)) = &slot.held
            && is_within(now, *at, self.life_ms)
        {
            return Ok(Arc::clone(held));
        }
        let shared_ms = i64::try_from(TIME_MAX.as_millis()).unwrap_or(i64::MAX);
        if let Some((at, error)) = slot.failed
            && is_within(now, at, shared_ms)
        {
            return Err(error);
        }
        slot.fill(now, fetch().await)
    }

    /// A newer value than `seen`, which turned out to be too old: one that somebody else fetched meanwhile, or what
    /// `fetch` brings, but that not more often than every `pause_ms`.
    pub(crate) async fn renew<F>(
        &self,
        now: Moment,
        seen: &Arc<T>,
        pause_ms: i64,
        fetch: impl FnOnce() -> F,
    ) -> Result<Option<Arc<T>>, UpstreamError>
    where
        F: Future<Output = Result<T, UpstreamError>>,
    {
        let mut slot = self.slot.lock().await;
        if let Some((_, held)) = slot.held.as_ref().filter(|(_, held)| !Arc::ptr_eq(held, seen)) {
            return Ok(Some(Arc::clone(held)));
        }
        if slot.renewed.is_some_and(|at| is_within(now, at, pause_ms)) {
            return Ok(None);
        }
        slot.renewed = Some(now);
        slot.fill(now, fetch().await).map(Some)
    }
}

impl<T> Slot<T> {
    /// A failure takes nothing away: an old value stays for as long as it lives.
    fn fill(&mut self, now: Moment, fetched: Result<T, UpstreamError>) -> Result<Arc<T>, UpstreamError> {
        match fetched {
            Ok(value) => {
                let value = Arc::new(value);
                self.held = Some((now, Arc::clone(&value)));
                self.failed = None;
                Ok(value)
            }
            Err(error) => {
                self.failed = Some((now, error));
                Err(error)
            }
        }
    }
}

/// Also when the clock was set back a little, or when somebody who came earlier waited longer.
fn is_within(now: Moment, at: Moment, span_ms: i64) -> bool {
    now.ms_since(at).saturating_abs() < span_ms
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Moment = Moment::from_millis(1_000_000);
    const LOST: UpstreamError = UpstreamError::Busy;

    fn none() -> std::future::Ready<Result<u8, UpstreamError>> {
        panic!("it is not asked for");
    }

    #[tokio::test]
    async fn a_value_lives_for_its_time() {
        let cached = Cached::new(1000);
        assert_eq!(*cached.get(AT, async || Ok(1)).await.unwrap(), 1);
        assert_eq!(*cached.get(AT.plus_ms(999), none).await.unwrap(), 1);
        assert_eq!(*cached.get(AT.plus_ms(1000), async || Ok(2)).await.unwrap(), 2);
        assert_eq!(*cached.get(AT.plus_ms(-5000), async || Ok(3)).await.unwrap(), 3);
    }

    #[tokio::test]
    async fn a_failure_is_shared_for_as_long_as_a_request_takes() {
        let cached = Cached::new(1000);
        assert_eq!(cached.get(AT, async || Err::<u8, _>(LOST)).await, Err(LOST));
        assert_eq!(cached.get(AT.plus_ms(9_999), none).await, Err(LOST));
        assert_eq!(*cached.get(AT.plus_ms(10_000), async || Ok(1)).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_value_is_renewed_once_in_a_while() {
        let cached = Cached::new(100_000);
        let first = cached.get(AT, async || Ok(1)).await.unwrap();
        let second = cached.renew(AT, &first, 1000, async || Ok(2)).await.unwrap().unwrap();
        assert_eq!(*second, 2);
        // Somebody who still has the first gets the second; whoever wants a third waits.
        assert_eq!(cached.renew(AT, &first, 1000, none).await.unwrap().as_deref(), Some(&2));
        assert_eq!(cached.renew(AT.plus_ms(999), &second, 1000, none).await.unwrap(), None);
        let lost = cached.renew(AT.plus_ms(1000), &second, 1000, async || Err(LOST)).await;
        assert_eq!(lost, Err(LOST));
        assert_eq!(*cached.get(AT.plus_ms(1000), none).await.unwrap(), 2);
    }
}

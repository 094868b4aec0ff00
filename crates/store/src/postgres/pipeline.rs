//! Requests sent one behind the other without waiting for answers in between.

use std::{future::poll_fn, pin::Pin, task::Poll};

/// Requests in flight at most: enough to hide the distance, few enough to keep in a buffer.
pub(super) const IN_FLIGHT_MAX: usize = 64;

/// Polls all futures in order until all are ready. The first round sends every request, in order.
pub(super) async fn in_order<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    enum Slot<F: Future> {
        Waiting(Pin<Box<F>>),
        Ready(F::Output),
    }
    let mut slots: Vec<Slot<F>> = futures.into_iter().map(|f| Slot::Waiting(Box::pin(f))).collect();
    let mut first_waiting = 0;
    // The server answers in order, so only the first that waits can have become ready.
    let mut sent = false;
    poll_fn(|context| {
        let start = if sent { first_waiting } else { 0 };
        for slot in &mut slots[start..] {
            if let Slot::Waiting(future) = slot {
                match future.as_mut().poll(context) {
                    Poll::Ready(output) => *slot = Slot::Ready(output),
                    Poll::Pending if sent => break,
                    Poll::Pending => {}
                }
            }
        }
        sent = true;
        while slots.get(first_waiting).is_some_and(|slot| matches!(slot, Slot::Ready(_))) {
            first_waiting += 1;
        }
        if first_waiting == slots.len() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    let ready = slots.into_iter().filter_map(|slot| match slot {
        Slot::Ready(output) => Some(output),
        Slot::Waiting(_) => None,
    });
    ready.collect()
}

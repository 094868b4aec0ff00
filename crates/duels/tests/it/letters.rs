//! An embedder of these tests: how often each letter occurs. Small enough to compute rankings by hand,
//! and it can be told to fail.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use semantic::{EmbedError, Embedder, Vector};
use tokio::sync::Notify;

pub(crate) const DIMS: usize = 32;

pub(crate) struct Letters {
    model: String,
    pub(crate) is_away: AtomicBool,
    /// Never answers while this is set.
    pub(crate) hangs: AtomicBool,
    pub(crate) asked: AtomicUsize,
    /// This text waits for [`Self::release`].
    pub(crate) held: Mutex<Option<String>>,
    released: Notify,
}

impl Letters {
    pub(crate) fn new(model: &str) -> Arc<Self> {
        Arc::new(Self {
            model: model.to_owned(),
            is_away: AtomicBool::new(false),
            hangs: AtomicBool::new(false),
            asked: AtomicUsize::new(0),
            held: Mutex::default(),
            released: Notify::new(),
        })
    }

    /// Lets the held text go, also if nobody waits for it yet.
    pub(crate) fn release(&self) {
        self.released.notify_one();
    }

    /// Occurrences of `a` to `z`, and of everything else together.
    pub(crate) fn counts(text: &str) -> [u8; DIMS] {
        let mut counts = [0; DIMS];
        for c in text.chars() {
            let at = match c.to_ascii_lowercase() {
                c @ 'a'..='z' => usize::from(c as u8 - b'a'),
                _ => 26,
            };
            counts[at] = (counts[at] + 1).min(100);
        }
        counts
    }

    /// The cosine of two texts, in floating point and not by the code under test.
    pub(crate) fn cosine(one: &str, two: &str) -> f64 {
        let (one, two) = (Self::counts(one), Self::counts(two));
        let dot =
            |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        dot(&one, &two) / (dot(&one, &one) * dot(&two, &two)).sqrt()
    }
}

impl Embedder for Letters {
    fn model_id(&self) -> &str {
        &self.model
    }

    fn dims(&self) -> usize {
        DIMS
    }

    fn embed<'a>(
        &'a self,
        text: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Vector, EmbedError>> + Send + 'a>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let is_held = self.held.lock().unwrap().as_deref() == Some(text);
            if is_held {
                self.released.notified().await;
            }
            if self.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            if self.is_away.load(Ordering::SeqCst) {
                return Err(EmbedError::Unavailable("the endpoint at 10.1.2.3 is away".to_owned()));
            }
            Ok(Vector::from_bytes(&Self::counts(text), DIMS).unwrap())
        })
    }
}

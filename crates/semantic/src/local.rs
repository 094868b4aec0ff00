//! The encoder of this process: a few threads of its own work off a bounded queue, so that no async
//! thread ever computes. It is handed a way to load the model, and loads it in the background.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use futures_channel::oneshot;

use crate::{EmbedError, Embedder, Encoder, Vector, embedder::Embedding, model};

/// Texts that are embedded at once.
pub const WORKERS: usize = 2;
/// Texts that wait. They take a few seconds at most, which is what a caller is ready to wait.
pub const QUEUE_MAX: usize = 256;
/// How long a call waits for a model that is still loading.
pub const LOADING_WAIT: Duration = Duration::from_secs(5);

type Answer = Result<Vector, EmbedError>;

#[cfg(test)]
mod tests;

/// Threads with one encoder. Dropping it ends them after the text they are at.
#[derive(Debug)]
pub struct LocalEmbedder {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// A text came, the model is there or is not to be had, or all is over.
    news: Condvar,
    loading_wait: Duration,
}

#[derive(Debug, Default)]
struct State {
    model: Loading,
    queue: VecDeque<Job>,
    closed: bool,
}

#[derive(Debug, Default)]
enum Loading {
    #[default]
    Under,
    Done(Arc<Encoder>),
    Failed(String),
}

#[derive(Debug)]
struct Job {
    text: String,
    until: Instant,
    answer: oneshot::Sender<Answer>,
}

impl LocalEmbedder {
    /// Starts the threads, and loads the model in one of them. The error says for the operator what to do.
    pub fn start<E: std::error::Error>(
        load: impl FnOnce() -> Result<Encoder, E> + Send + 'static,
    ) -> std::io::Result<Self> {
        Self::with_loading_wait(load, LOADING_WAIT)
    }

    fn with_loading_wait<E: std::error::Error>(
        load: impl FnOnce() -> Result<Encoder, E> + Send + 'static,
        loading_wait: Duration,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), news: Condvar::new(), loading_wait });
        let mut embedder = Self { shared: Arc::clone(&shared), threads: Vec::new() };
        let loader = Arc::clone(&shared);
        embedder.spawn("embed-load", move || loader.load(load))?;
        for _ in 0..WORKERS {
            let worker = Arc::clone(&shared);
            embedder.spawn("embed", move || worker.work())?;
        }
        Ok(embedder)
    }

    /// Whether the model is there, for who tells the operator.
    pub fn state(&self) -> Result<(), EmbedError> {
        match &self.shared.lock().model {
            Loading::Done(_) => Ok(()),
            Loading::Under => Err(EmbedError::Loading),
            Loading::Failed(problem) => Err(EmbedError::Unavailable(problem.clone())),
        }
    }

    fn spawn(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        self.threads.push(thread::Builder::new().name(name.to_owned()).spawn(run)?);
        Ok(())
    }

    fn enqueue(&self, text: &str) -> Result<oneshot::Receiver<Answer>, EmbedError> {
        let (answer, receiver) = oneshot::channel();
        let mut state = self.shared.lock();
        // Callers that gave up leave no work behind.
        state.queue.retain(|job| !job.answer.is_canceled());
        if state.queue.len() >= QUEUE_MAX {
            return Err(EmbedError::Unavailable(format!("{QUEUE_MAX} texts wait to be embedded already")));
        }
        let until = Instant::now() + self.shared.loading_wait;
        state.queue.push_back(Job { text: text.to_owned(), until, answer });
        drop(state);
        self.shared.news.notify_all();
        Ok(receiver)
    }
}

impl Embedder for LocalEmbedder {
    fn model_id(&self) -> &str {
        model::MODEL_ID
    }

    fn dims(&self) -> usize {
        model::DIMS
    }

    fn embed<'a>(&'a self, text: &'a str) -> Embedding<'a> {
        Box::pin(async move {
            let answer = self.enqueue(text)?;
            answer
                .await
                .unwrap_or_else(|_| Err(EmbedError::Unavailable("the encoder was stopped".to_owned())))
        })
    }
}

impl Drop for LocalEmbedder {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.queue.clear();
        drop(state);
        self.shared.news.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so, and there is nothing left that needs it.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No change of the state can be left half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn load<E: std::error::Error>(&self, load: impl FnOnce() -> Result<Encoder, E>) {
        let model = match catch_unwind(AssertUnwindSafe(load)) {
            Ok(Ok(encoder)) => Loading::Done(Arc::new(encoder)),
            Ok(Err(error)) => Loading::Failed(error.to_string()),
            Err(_) => Loading::Failed("loading the model panicked".to_owned()),
        };
        self.lock().model = model;
        self.news.notify_all();
    }

    fn work(&self) {
        while let Some((job, encoder)) = self.next() {
            let answer = match encoder {
                Ok(encoder) => catch_unwind(AssertUnwindSafe(|| encoder.embed(&job.text)))
                    .map_err(|_| EmbedError::Unavailable("embedding a text panicked".to_owned())),
                Err(error) => Err(error),
            };
            // Who no longer waits is not told.
            let _ = job.answer.send(answer);
        }
    }

    /// The next text and what there is to embed it with, or `None` at the end. Texts stay in the queue
    /// while the model loads, each until its own time.
    fn next(&self) -> Option<(Job, Result<Arc<Encoder>, EmbedError>)> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            let now = Instant::now();
            let encoder = match &state.model {
                Loading::Done(encoder) => Some(Ok(Arc::clone(encoder))),
                Loading::Failed(problem) => Some(Err(EmbedError::Unavailable(problem.clone()))),
                Loading::Under => {
                    state.queue.front().filter(|job| job.until <= now).map(|_| Err(EmbedError::Loading))
                }
            };
            if let Some(encoder) = encoder
                && let Some(job) = state.queue.pop_front()
            {
                return Some((job, encoder));
            }
            let patience = match (&state.model, state.queue.front()) {
                (Loading::Under, Some(job)) => Some(job.until.saturating_duration_since(now)),
                _ => None,
            };
            state = match patience {
                Some(patience) => {
                    self.news.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.news.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

//! The threads around the encoder: loading, waiting, refusing.

use std::{
    io,
    sync::mpsc::{Receiver, Sender, channel},
};

use super::*;
use crate::model::sample;

const SOON: Duration = Duration::from_millis(20);

fn encoder() -> Encoder {
    Encoder::from_copy(&sample::packed()).unwrap()
}

/// An embedder whose model is loaded when told.
fn held(loading_wait: Duration) -> (LocalEmbedder, Sender<()>) {
    let (go, wait): (Sender<()>, Receiver<()>) = channel();
    let load = move || {
        wait.recv().map_err(io::Error::other)?;
        Ok::<_, io::Error>(encoder())
    };
    (LocalEmbedder::with_loading_wait(load, loading_wait).unwrap(), go)
}

/// Waits until a started load is over.
async fn loaded(embedder: &LocalEmbedder) {
    while embedder.state() == Err(EmbedError::Loading) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn many_texts_get_their_own_vectors() {
    let (embedder, go) = held(LOADING_WAIT);
    let texts: Vec<String> = (0..40).map(|number| format!("{}b", "a".repeat(number))).collect();
    let waiting: Vec<_> = texts.iter().map(|text| embedder.embed(text)).collect();
    go.send(()).unwrap();
    let plain = encoder();
    for (text, answer) in texts.iter().zip(waiting) {
        assert_eq!(answer.await, Ok(plain.embed(text)), "{text}");
    }
    assert_eq!((embedder.model_id(), embedder.dims()), ("usem3/6dffe716cf17/i8/1", 512));
    assert_eq!(embedder.state(), Ok(()));
}

#[tokio::test]
async fn a_call_waits_for_the_model_and_not_longer() {
    let (embedder, go) = held(SOON);
    assert_eq!(embedder.embed("a").await, Err(EmbedError::Loading));
    assert_eq!(embedder.state(), Err(EmbedError::Loading));
    go.send(()).unwrap();
    loaded(&embedder).await;
    assert_eq!(embedder.embed("a").await, Ok(encoder().embed("a")));
}

#[tokio::test]
async fn a_model_that_cannot_be_loaded_says_why() {
    let load = || Err::<Encoder, _>(io::Error::other("sp.model is damaged"));
    let embedder = LocalEmbedder::start(load).unwrap();
    let expected = EmbedError::Unavailable("sp.model is damaged".to_owned());
    for _ in 0..2 {
        assert_eq!(embedder.embed("a").await, Err(expected.clone()));
    }
    assert_eq!(embedder.state(), Err(expected));

    let embedder = LocalEmbedder::start(|| -> Result<Encoder, io::Error> { panic!("in a test") }).unwrap();
    assert!(matches!(embedder.embed("a").await, Err(EmbedError::Unavailable(_))));
}

#[tokio::test]
async fn a_full_queue_refuses_and_those_who_gave_up_make_room() {
    let (embedder, go) = held(LOADING_WAIT);
    let mut waiting: Vec<_> = (0..QUEUE_MAX).map(|_| embedder.enqueue("a").unwrap()).collect();
    assert!(matches!(embedder.embed("b").await, Err(EmbedError::Unavailable(_))));
    waiting.pop();
    waiting.push(embedder.enqueue("a").unwrap());
    assert!(matches!(embedder.embed("b").await, Err(EmbedError::Unavailable(_))));
    go.send(()).unwrap();
    let expected = encoder().embed("a");
    for answer in waiting {
        assert_eq!(answer.await, Ok(Ok(expected.clone())));
    }
    assert_eq!(embedder.embed("a").await, Ok(expected));
}

#[tokio::test]
async fn an_embedder_that_is_dropped_ends_its_threads_and_tells_who_waits() {
    let (embedder, go) = held(LOADING_WAIT);
    let answer = embedder.enqueue("a").unwrap();
    let shared = Arc::downgrade(&embedder.shared);
    // The load fails, because nobody is left to allow it; the drop waits for its thread.
    let dropping = thread::spawn(move || drop(embedder));
    assert!(answer.await.is_err());
    drop(go);
    dropping.join().unwrap();
    assert!(shared.upgrade().is_none());
}

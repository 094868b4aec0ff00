//! The client against a server on loopback that is slow, wrong, full or gone.
#![cfg(test)]

use std::{
    sync::{
        Arc, Mutex, Once,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use openai::{ANSWER_BYTES_MAX, Endpoint, EndpointError, RemoteEmbedder};
use semantic::{Embedder, Vector};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
};

const KEY: &str = "sk-secret";

/// Answers each request with the next of its answers; the last one for ever. An empty one drops the line.
struct Server {
    base: String,
    asked: Arc<AtomicUsize>,
    last: Arc<Mutex<String>>,
    serving: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Server {
    async fn answering(answers: &[&str]) -> Self {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        let (asked, last) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(String::new())));
        let (count, seen) = (Arc::clone(&asked), Arc::clone(&last));
        let serving = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (mut request, mut block) = (Vec::new(), [0; 4096]);
                loop {
                    let read = stream.read(&mut block).await.unwrap_or(0);
                    request.extend_from_slice(&block[..read]);
                    let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
                    let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                        let length = head
                            .split("content-length: ")
                            .nth(1)
                            .and_then(|rest| rest.lines().next()?.parse().ok());
                        length.is_none_or(|length: usize| body.len() >= length)
                    });
                    if read == 0 || whole {
                        break;
                    }
                }
                *seen.lock().unwrap() = String::from_utf8_lossy(&request).into_owned();
                let at = count.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
                if answers[at] == "hang" {
                    tokio::spawn(async move {
                        tokio::time::sleep(Duration::from_mins(1)).await;
                        drop(stream);
                    });
                    continue;
                }
                let _ = stream.write_all(answers[at].as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { base, asked, last, serving }
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::new(self.base.parse().unwrap(), "some-model", Some(KEY.to_owned())).unwrap()
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn http(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn a_vector_comes_back_with_length_one() {
    let server = Server::answering(&[&http(
        "200 OK",
        r#"{"data":[{"embedding":[3.0,0,-4.0],"index":0}],"usage":{}}"#,
    )])
    .await;
    let vector = server.endpoint().embed("Ein Text", 3).await.unwrap();
    assert_eq!(vector, [0.6, 0.0, -0.8]);
    let request = server.last.lock().unwrap().clone();
    assert!(request.starts_with("POST /v1/embeddings HTTP/1.1"), "{request}");
    assert!(request.to_ascii_lowercase().contains("authorization: bearer sk-secret"), "{request}");
    let body: serde_json::Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(
        body,
        serde_json::json!({"model": "some-model", "input": ["Ein Text"], "encoding_format": "float"})
    );
    let embedder = RemoteEmbedder::new(server.endpoint(), 3);
    assert_eq!((embedder.model_id(), embedder.dims()), ("remote/127.0.0.1/some-model/3/i8/1", 3));
    assert_eq!(embedder.embed("x").await.unwrap(), Vector::quantise(&[0.6, 0.0, -0.8]));
}

#[tokio::test]
async fn a_chat_completes() {
    let said = r#"{"choices":[{"message":{"role":"assistant","content":" Plays fair. "}}]}"#;
    let server = Server::answering(&[&http("200 OK", said)]).await;
    assert_eq!(server.endpoint().complete("rules", "words").await.unwrap(), " Plays fair. ");
    assert!(server.last.lock().unwrap().contains(r#""temperature":0"#));
    for nothing in [
        r#"{"choices":[]}"#,
        r#"{"choices":[{"message":{"content":" "}}]}"#,
        r#"{"choices":[{"message":{"content":null}}]}"#,
    ] {
        let server = Server::answering(&[&http("200 OK", nothing)]).await;
        assert_eq!(
            server.endpoint().complete("a", "b").await,
            Err(EndpointError::Unexpected("it says nothing"))
        );
    }
}

#[tokio::test]
async fn what_passes_is_tried_once_more_and_what_does_not_is_not() {
    let good = http("200 OK", r#"{"data":[{"embedding":[1.0]}]}"#);
    for passing in [
        http("500 Broken", ""),
        http("503 Busy", ""),
        "HTTP/1.1 429 Slow\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned(),
        String::new(),
    ] {
        let server = Server::answering(&[&passing, &good]).await;
        assert_eq!(server.endpoint().embed("x", 1).await, Ok(vec![1.0]), "{passing}");
        assert_eq!(server.asked(), 2, "{passing}");
        let server = Server::answering(&[&passing]).await;
        assert!(server.endpoint().embed("x", 1).await.is_err(), "{passing}");
        assert_eq!(server.asked(), 2, "{passing}");
    }
    let long = "HTTP/1.1 429 Slow\r\nRetry-After: 60\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    for (lasting, wanted) in [
        (http("401 Who", ""), EndpointError::Status(401)),
        (http("404 Where", ""), EndpointError::Status(404)),
        (long.to_owned(), EndpointError::Status(429)),
        (
            "HTTP/1.1 302 There\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n".to_owned(),
            EndpointError::Redirect,
        ),
        (http("200 OK", "<html>"), EndpointError::Unexpected("it cannot be read as JSON of the kind")),
        (http("200 OK", r#"{"data":[]}"#), EndpointError::Unexpected("it has not exactly one vector")),
        (
            http("200 OK", r#"{"data":[{"embedding":[1.0,2.0]}]}"#),
            EndpointError::Dimensions { expected: 1, found: 2 },
        ),
        (
            http("200 OK", r#"{"data":[{"embedding":[0.0]}]}"#),
            EndpointError::Unexpected("its vector has no direction"),
        ),
        (
            http("200 OK", r#"{"data":[{"embedding":[NaN]}]}"#),
            EndpointError::Unexpected("it cannot be read as JSON of the kind"),
        ),
        (http("200 OK", &" ".repeat(ANSWER_BYTES_MAX + 1)), EndpointError::TooLarge),
    ] {
        let server = Server::answering(&[&lasting]).await;
        let refused = server.endpoint().embed("x", 1).await.unwrap_err();
        assert_eq!((&refused, server.asked()), (&wanted, 1));
        assert!(!refused.to_string().contains(KEY) && !format!("{:?}", server.endpoint()).contains(KEY));
    }
}

#[tokio::test]
async fn numbers_beyond_all_bounds_give_no_vector() {
    // Whether the reader of JSON or the check of the length refuses it is all the same.
    for beyond in ["1e39", "-1e39", "1e999"] {
        let body = format!(r#"{{"data":[{{"embedding":[{beyond}]}}]}}"#);
        let server = Server::answering(&[&http("200 OK", &body)]).await;
        let refused = server.endpoint().embed("x", 1).await;
        assert!(matches!(refused, Err(EndpointError::Unexpected(_))), "{beyond}: {refused:?}");
    }
}

#[tokio::test]
async fn a_silent_endpoint_is_left() {
    let server = Server::answering(&["hang"]).await;
    assert_eq!(server.endpoint().embed("x", 1).await, Err(EndpointError::TooSlow));
    assert_eq!(server.asked(), 1);
}

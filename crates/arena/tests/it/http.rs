//! The smallest HTTP client and server that a test needs.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use serde_json::Value;

use crate::process::PATIENCE;

pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In small letters.
    pub(crate) head: String,
    pub(crate) raw_head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The value of a header, which is there.
    pub(crate) fn header(&self, name: &str) -> &str {
        let start = format!("{name}: ");
        let found = self.head.lines().find_map(|line| line.strip_prefix(&start));
        found.unwrap_or_else(|| panic!("no {name} in {}", self.head))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }
}

pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Reads an answer after which the server closes.
pub(crate) fn read_answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_ascii_lowercase(), raw_head: head.to_owned(), body: body.to_owned() }
}

pub(crate) fn get(url: &str) -> Answer {
    let (address, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let mut stream = connect(address);
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    read_answer(stream)
}

/// A picture or another body that is no text.
pub(crate) fn bytes_of(url: &str) -> Vec<u8> {
    let (address, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let mut stream = connect(address);
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 "), "{:?}", String::from_utf8_lossy(&answer[..64]));
    let head = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    answer.split_off(head + 4)
}

/// One request with a body declared as JSON, on a connection of its own.
pub(crate) fn send(address: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let (headers, length) = (headers.concat(), body.len());
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\n{headers}content-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    let mut stream = connect(address);
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    read_answer(stream)
}

/// The head of a call of a duels tool over REST.
pub(crate) fn call_head(address: &str, tool: &str, key: &str, length: usize) -> String {
    format!(
        "POST /duels/v1/{tool} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    )
}

pub(crate) fn call(address: &str, tool: &str, key: &str, body: &Value) -> Answer {
    let body = body.to_string();
    let mut stream = connect(address);
    write!(stream, "{}{body}", call_head(address, tool, key, body.len())).unwrap();
    read_answer(stream)
}

/// Answers one request with `status` and `body`; the address is where to ask.
pub(crate) fn answer_once(status: &'static str, body: String) -> (String, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut request = Vec::new();
        let mut chunk = [0; 1024];
        while !request.windows(4).any(|window| window == b"\r\n\r\n") {
            let read = stream.read(&mut chunk).unwrap();
            assert!(read > 0, "the client broke off");
            request.extend_from_slice(&chunk[..read]);
        }
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
    });
    (address, serving)
}

/// An address on which nobody listens.
pub(crate) fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// A server that gives every request the same JSON, and remembers what it was asked.
pub(crate) struct Answering {
    pub(crate) address: String,
    asked: std::sync::Arc<std::sync::Mutex<Vec<String>>>,
}

impl Answering {
    pub(crate) fn with(body: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let heard = std::sync::Arc::clone(&asked);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (heard, body) = (std::sync::Arc::clone(&heard), body.clone());
                std::thread::spawn(move || answer_all(stream, &heard, &body));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer_all(mut stream: TcpStream, heard: &std::sync::Mutex<Vec<String>>, body: &str) {
    let (mut request, mut chunk) = (Vec::new(), [0; 4096]);
    let whole = |request: &[u8]| {
        let text = String::from_utf8_lossy(request).into_owned();
        let (head, rest) = text.split_once("\r\n\r\n")?;
        let length = head
            .to_ascii_lowercase()
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        (rest.len() >= length.unwrap_or(0usize)).then_some(text)
    };
    let text = loop {
        if let Some(text) = whole(&request) {
            break text;
        }
        match stream.read(&mut chunk) {
            Ok(read @ 1..) => request.extend_from_slice(&chunk[..read]),
            _ => return,
        }
    };
    heard.lock().unwrap().push(text);
    let length = body.len();
    // Whoever asked may have left.
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
}

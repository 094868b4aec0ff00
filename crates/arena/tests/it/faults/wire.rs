//! A connection over which a call may go unanswered: nothing here panics when the other side is gone.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

/// A whole answer. Half of one counts as none.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<i64>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    /// The code of a refusal.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// One kept connection, made anew when it broke.
pub(crate) struct Wire {
    pub(crate) address: String,
    patience: Duration,
    stream: Option<BufReader<TcpStream>>,
}

impl Wire {
    /// `patience` is how long an answer is waited for.
    pub(crate) fn new(address: &str, patience: Duration) -> Self {
        Self { address: address.to_owned(), patience, stream: None }
    }

    /// Calls a duels tool over REST; an error means that no answer came.
    pub(crate) fn call(
        &mut self,
        tool: &str,
        key: &str,
        once: Option<&str>,
        body: &str,
    ) -> io::Result<Reply> {
        let once = once.map(|once| format!("idempotency-key: {once}\r\n")).unwrap_or_default();
        let head = format!("authorization: Bearer {key}\r\ncontent-type: application/json\r\n{once}");
        self.request("POST", &format!("/duels/v1/{tool}"), &head, body)
    }

    pub(crate) fn get(&mut self, path: &str) -> io::Result<Reply> {
        self.request("GET", path, "", "")
    }

    fn request(&mut self, method: &str, path: &str, head: &str, body: &str) -> io::Result<Reply> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect()?,
        };
        let text = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n{head}\r\n{body}",
            self.address,
            body.len()
        );
        stream.get_mut().write_all(text.as_bytes())?;
        let reply = read_reply(&mut stream)?;
        self.stream = Some(stream);
        Ok(reply)
    }

    fn connect(&self) -> io::Result<BufReader<TcpStream>> {
        // A frozen server accepts nobody once its queue is full, and says nothing of it.
        let address = self.address.parse().map_err(io::Error::other)?;
        let stream = TcpStream::connect_timeout(&address, self.patience)?;
        stream.set_read_timeout(Some(self.patience))?;
        stream.set_nodelay(true)?;
        Ok(BufReader::new(stream))
    }
}

fn read_reply(stream: &mut BufReader<TcpStream>) -> io::Result<Reply> {
    let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let mut line = String::new();
    let mut next = |line: &mut String| {
        line.clear();
        let read = stream.read_line(line)?;
        if read == 0 { Err(broken()) } else { Ok(()) }
    };
    next(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(broken)?;
    let (mut length, mut retry_after) = (0, None);
    loop {
        next(&mut line)?;
        if line.trim_end().is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().map_err(|_| broken())?,
            "retry-after" => retry_after = value.trim().parse().ok(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Reply { status, retry_after, body: String::from_utf8(body).map_err(|_| broken())? })
}

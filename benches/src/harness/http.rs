//! HTTP/1.1 over one kept connection, with as little work as checking the answers allows.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::Outcome;

/// No answer that is measured comes near it.
const ANSWER_BYTES_MAX: usize = 4 << 20;

pub(crate) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Outcome<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(4096) })
    }

    /// Sends a whole request and reads the whole answer.
    pub(crate) async fn call(&mut self, request: &[u8]) -> Outcome<Answer> {
        self.stream.write_all(request).await?;
        self.read.clear();
        loop {
            if let Some(answer) = parse(&self.read)? {
                return Ok(answer);
            }
            if self.read.len() > ANSWER_BYTES_MAX {
                return Err("an answer is too large".into());
            }
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Err("the server closed the connection".into());
            }
        }
    }
}

/// A POST of JSON; `headers` are whole lines.
pub(crate) fn post(address: SocketAddr, path: &str, headers: &[String], body: &str) -> Vec<u8> {
    let mut text = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    text.push_str("\r\n");
    text.push_str(body);
    text.into_bytes()
}

/// A GET; `headers` are whole lines.
pub(crate) fn get(address: SocketAddr, path: &str, headers: &[&str]) -> Vec<u8> {
    let mut text = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n");
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    text.push_str("\r\n");
    text.into_bytes()
}

/// Whether `text` holds `part`, which is not empty.
pub(crate) fn holds(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// `None` when more must be read.
fn parse(bytes: &[u8]) -> Outcome<Option<Answer>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end])?;
    let body = &bytes[end + 4..];
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).ok_or("no status line")?.parse()?;
    let (mut length, mut chunked) = (0, false);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse()?;
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = value.trim().eq_ignore_ascii_case("chunked");
        }
    }
    if chunked {
        return Ok(unchunk(body)?.map(|body| Answer { status, body }));
    }
    Ok(body.get(..length).map(|body| Answer { status, body: body.to_vec() }))
}

fn unchunk(mut rest: &[u8]) -> Outcome<Option<Vec<u8>>> {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else { return Ok(None) };
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end])?.trim(), 16)?;
        let Some(chunk) = rest.get(end + 2..end + 2 + size + 2) else { return Ok(None) };
        if size == 0 {
            return Ok(Some(body));
        }
        body.extend_from_slice(&chunk[..size]);
        rest = &rest[end + 2 + size + 2..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_whole_or_not_yet() {
        let plain = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        assert!(parse(&plain[..plain.len() - 1]).unwrap().is_none());
        let answer = parse(plain).unwrap().unwrap();
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"hello"[..]));
        let chunked =
            b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        for length in 0..chunked.len() {
            assert!(parse(&chunked[..length]).unwrap().is_none(), "{length}");
        }
        let answer = parse(chunked).unwrap().unwrap();
        assert_eq!((answer.status, answer.body.as_slice()), (404, &b"abcde"[..]));
        assert!(holds(b"xabcx", b"abc") && !holds(b"xabx", b"abc"));
    }
}

//! A browser as far as a test needs one: cookies, forms, no redirect followed by itself.

use std::{collections::BTreeMap, fmt::Write as _, io::Write as _};

use crate::http::{Answer, connect, read_answer};

#[derive(Clone)]
pub(crate) struct Visitor {
    address: String,
    cookies: BTreeMap<String, String>,
}

/// What a page or a redirect answered. Headers keep their case here, because they hold secrets.
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn location(&self) -> &str {
        self.header("location").unwrap_or_else(|| panic!("no redirect: {} {}", self.status, self.body))
    }

    /// The value of a parameter of the address that it leads to.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let (_, query) = self.location().split_once('?')?;
        let pairs: Vec<(String, String)> = pairs(query);
        pairs.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The value of a hidden field; the page's own come after that of the theme.
    pub(crate) fn field(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let at = self.body.rfind(&start).unwrap_or_else(|| panic!("no field {name}: {}", self.body));
        let rest = &self.body[at + start.len()..];
        rest[..rest.find('"').unwrap()].to_owned()
    }
}

fn pairs(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

fn decoded(text: &str) -> String {
    let (mut out, mut bytes) = (Vec::new(), text.bytes());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(out).unwrap()
}

pub(crate) fn encoded(fields: &[(&str, &str)]) -> String {
    let part = |text: &str| {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            })
            .collect::<String>()
    };
    fields.iter().map(|(name, value)| format!("{}={}", part(name), part(value))).collect::<Vec<_>>().join("&")
}

impl Visitor {
    pub(crate) fn new(address: &str) -> Self {
        Self { address: address.to_owned(), cookies: BTreeMap::new() }
    }

    /// Goes on at another node.
    pub(crate) fn go_to(&mut self, address: &str) {
        address.clone_into(&mut self.address);
    }

    /// The cookie of the session, if there is one.
    pub(crate) fn session(&self) -> Option<&String> {
        self.cookies.get("arena_session")
    }

    pub(crate) fn forget(&mut self) {
        self.cookies.clear();
    }

    pub(crate) fn get(&mut self, path: &str) -> Seen {
        self.ask("GET", path, &[("accept", "text/html")], "")
    }

    /// Sends a form with the token of the page at `page`.
    pub(crate) fn submit(&mut self, page: &str, action: &str, fields: &[(&str, &str)]) -> Seen {
        let form = self.get(page).field("form");
        let fields = [&[("form", form.as_str())][..], fields].concat();
        self.post(action, &fields)
    }

    pub(crate) fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Seen {
        let origin = format!("http://{}", self.address);
        self.ask("POST", path, &[("accept", "text/html"), ("origin", &origin)], &encoded(fields))
    }

    pub(crate) fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Seen {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.address);
        // Writing to a String cannot fail.
        if !self.cookies.is_empty() {
            let cookies: Vec<String> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let _ = write!(head, "cookie: {}\r\n", cookies.join("; "));
        }
        if headers.iter().all(|(name, _)| *name != "content-type") {
            head.push_str("content-type: application/x-www-form-urlencoded\r\n");
        }
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = write!(head, "content-length: {}\r\n\r\n{body}", body.len());
        let mut stream = connect(&self.address);
        stream.write_all(head.as_bytes()).unwrap();
        let Answer { status, raw_head, body, .. } = read_answer(stream);
        let headers: Vec<(String, String)> = raw_head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        for (_, cookie) in headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            if cookie.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        Seen { status, headers, body }
    }

    /// Makes an account and is signed in with it.
    pub(crate) fn sign_up(&mut self, nickname: &str, password: &str) -> Seen {
        self.submit(
            "/sign-up",
            "/sign-up",
            &[("nickname", nickname), ("password", password), ("repeated", password)],
        )
    }
}

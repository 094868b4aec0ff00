//! What news readers are told.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use crate::{backup::lived_in, http::get};

#[test]
fn news_readers_get_what_was_settled_in_both_of_their_languages() {
    let (home, _) = lived_in();
    let server = home.serve(&[]);
    let base = format!("http://{}", server.address);
    let told = get(&format!("{base}/feed.json"));
    assert_eq!((told.status, told.header("content-type")), (200, "application/feed+json"));
    let feed = told.json();
    assert_eq!(feed["version"], "https://jsonfeed.org/version/1.1");
    let item = &feed["items"][0];
    assert_eq!(item["title"], "alpha and beta over 19 points");
    assert!(item["content_text"].as_str().unwrap().contains("alpha received 9"), "{item}");
    let page = get(item["url"].as_str().unwrap());
    assert_eq!(page.status, 200, "what is told of has a page: {}", page.body);
    let atom = get(&format!("{base}/feed.atom"));
    assert_eq!((atom.status, atom.header("content-type")), (200, "application/atom+xml; charset=utf-8"));
    for part in ["<id>", "<updated>", item["url"].as_str().unwrap(), "alpha and beta over 19 points"] {
        assert!(atom.body.contains(part), "{part}: {}", atom.body);
    }
    let mut reader = Command::new("python3")
        .args([
            "-c",
            "import sys, xml.dom.minidom as d; print(d.parse(sys.stdin.buffer).documentElement.tagName)",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    reader.stdin.take().unwrap().write_all(atom.body.as_bytes()).unwrap();
    let read = reader.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&read.stdout).trim(), "feed", "well formed");
    assert!(get(&format!("{base}/")).status == 200);
    server.stop();
}

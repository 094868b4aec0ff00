//! The guard against real servers on loopback that lie, stall, redirect and never end.
#![cfg(test)]

mod origin;

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use net::{FetchError, Fetcher, Policy, Resolve, Resolving, address::is_public};
use origin::Origin;

/// Answers another list at each look-up; the last one for ever.
struct Names {
    answers: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Names {
    fn always(address: &str) -> Arc<Self> {
        Self::in_turn(&[&[address]])
    }

    fn in_turn(answers: &[&[&str]]) -> Arc<Self> {
        let answers = answers
            .iter()
            .map(|list| list.iter().map(|address| address.parse().unwrap()).collect())
            .collect();
        Arc::new(Self { answers, asked: AtomicUsize::new(0) })
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers[asked.min(self.answers.len() - 1)].clone();
        let known = !host.starts_with("unknown");
        Box::pin(async move { if known { Ok(answer) } else { Err(io::Error::other("no such name")) } })
    }
}

/// Loopback stands for the public internet here.
fn loopback(address: IpAddr) -> bool {
    address == IpAddr::V4(Ipv4Addr::LOCALHOST)
}

fn fetcher(names: Arc<Names>, origin: &Origin) -> Fetcher {
    Fetcher::with(Policy {
        resolver: names,
        allows: loopback,
        any_port: true,
        root: Some(origin.root.clone()),
    })
}

async fn fetch(origin: &Origin, path: &str) -> Result<Vec<u8>, FetchError> {
    fetcher(Names::always("127.0.0.1"), origin).fetch(&origin.url("pictures.example", path), 1000).await
}

#[tokio::test]
async fn a_file_is_fetched_whole() {
    let origin = Origin::start().await;
    assert_eq!(fetch(&origin, "/file").await.unwrap(), b"a picture");
    let head = origin.last_head();
    assert!(
        head.starts_with("GET /file HTTP/1.1")
            && head.to_ascii_lowercase().contains("host: pictures.example"),
        "{head}"
    );
    for secret in ["cookie", "referer", "authorization", "accept-encoding"] {
        assert!(!head.to_ascii_lowercase().contains(secret), "{head}");
    }
    assert_eq!(fetch(&origin, "/exactly").await.unwrap().len(), 1000);
}

#[tokio::test]
async fn every_trick_of_a_server_has_its_answer() {
    let origin = Origin::start().await;
    for (path, wanted) in [
        ("/redirect", FetchError::Redirect),
        ("/redirect-inside", FetchError::Redirect),
        ("/missing", FetchError::Status(404)),
        ("/failing", FetchError::Status(500)),
        ("/partial", FetchError::Status(206)),
        ("/announced", FetchError::TooLarge { max: 1000 }),
        ("/announced-most", FetchError::TooLarge { max: 1000 }),
        ("/announced-below", FetchError::BrokenOff),
        ("/announced-twice", FetchError::BrokenOff),
        ("/endless", FetchError::TooLarge { max: 1000 }),
        ("/chunks", FetchError::TooLarge { max: 1000 }),
        ("/heads", FetchError::BrokenOff),
        ("/short", FetchError::BrokenOff),
        ("/garbage", FetchError::BrokenOff),
    ] {
        assert_eq!(fetch(&origin, path).await, Err(wanted), "{path}");
    }
    // Who says four bytes has sent four, whatever follows them.
    assert_eq!(fetch(&origin, "/more").await.unwrap(), b"four");
    // What is compressed stays compressed: nothing can grow on the way.
    assert_eq!(fetch(&origin, "/compressed").await.unwrap(), b"\x1f\x8bnot inflated");
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_its_address_pinned() {
    let origin = Origin::start().await;
    let names = Names::in_turn(&[&["127.0.0.1"], &["10.0.0.1"]]);
    let guarded = fetcher(Arc::clone(&names), &origin);
    assert!(guarded.fetch(&origin.url("pictures.example", "/file"), 1000).await.is_ok());
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);
    assert_eq!(
        guarded.fetch(&origin.url("pictures.example", "/file"), 1000).await,
        Err(FetchError::NotPublic)
    );
    for mixed in [&["127.0.0.1", "10.0.0.1"][..], &["::1", "127.0.0.1"], &["169.254.169.254"]] {
        let guarded = fetcher(Names::in_turn(&[mixed]), &origin);
        let refused = guarded.fetch(&origin.url("pictures.example", "/file"), 1000).await;
        assert_eq!(refused, Err(FetchError::NotPublic), "{mixed:?}");
    }
    // Whether a name is known on the inside is nobody's business: an unknown one gets the same answer.
    let before = origin.connections();
    let guarded = fetcher(Names::in_turn(&[&[]]), &origin);
    assert_eq!(guarded.fetch(&origin.url("empty.example", "/"), 9).await, Err(FetchError::NotPublic));
    let guarded = fetcher(Names::always("127.0.0.1"), &origin);
    assert_eq!(guarded.fetch(&origin.url("unknown.example", "/"), 9).await, Err(FetchError::NotPublic));
    assert_eq!(origin.connections(), before);
}

#[tokio::test]
async fn only_the_name_on_the_certificate_is_trusted() {
    let origin = Origin::start().await;
    let guarded = fetcher(Names::always("127.0.0.1"), &origin);
    let other = guarded.fetch(&origin.url("other.example", "/file"), 1000).await;
    assert_eq!(other, Err(FetchError::Unreachable));
    let stranger = Fetcher::with(Policy {
        resolver: Names::always("127.0.0.1"),
        allows: loopback,
        any_port: true,
        root: None,
    });
    let untrusted = stranger.fetch(&origin.url("pictures.example", "/file"), 1000).await;
    assert_eq!(untrusted, Err(FetchError::Unreachable));
    let closed = format!("https://pictures.example:{}/", origin::closed_port().await);
    assert_eq!(guarded.fetch(&closed, 1000).await, Err(FetchError::Unreachable));
}

#[tokio::test]
async fn a_slow_server_is_left() {
    let origin = Origin::start().await;
    let quiet = origin::silent().await;
    let names = Names::always("127.0.0.1");
    let fetcher = fetcher(names, &origin);
    let silent = format!("https://pictures.example:{}/", quiet.local_addr().unwrap().port());
    let (stalls, drips, continues, silent) = tokio::join!(
        fetch(&origin, "/stalls"),
        fetch(&origin, "/drips"),
        fetch(&origin, "/continues"),
        fetcher.fetch(&silent, 1000),
    );
    assert_eq!(stalls, Err(FetchError::TooSlow));
    assert_eq!(drips, Err(FetchError::TooSlow));
    assert!(matches!(continues, Err(FetchError::TooSlow | FetchError::BrokenOff)), "{continues:?}");
    assert_eq!(silent, Err(FetchError::Unreachable), "TLS belongs to the time of connecting");
}

#[tokio::test]
async fn however_a_name_is_written_its_address_is_the_pinned_one() {
    let origin = Origin::start().await;
    for host in ["PICTURES.example", "pictures.example.", "p%69ctures.example", "ｐictures。example"] {
        let names = Names::always("127.0.0.1");
        let fetched = fetcher(Arc::clone(&names), &origin).fetch(&origin.url(host, "/file"), 1000).await;
        assert_eq!(fetched.as_deref(), Ok(&b"a picture"[..]), "{host}");
        assert_eq!(names.asked.load(Ordering::SeqCst), 1, "{host}");
    }
}

/// These names are looked up nowhere: a connection shows the pin, and the certificate names another.
#[tokio::test]
async fn names_that_are_hard_to_read_are_pinned_too() {
    let origin = Origin::start().await;
    let guarded = fetcher(Names::always("127.0.0.1"), &origin);
    for host in ["_x.pictures.example", "bücher.example", "xn--bcher-kva.example", "a--b.example"] {
        let before = origin.connections();
        let refused = guarded.fetch(&origin.url(host, "/file"), 1000).await;
        assert_eq!((refused, origin.connections()), (Err(FetchError::Unreachable), before + 1), "{host}");
    }
}

/// The names of the system itself, which every machine has.
#[tokio::test]
async fn the_name_of_this_machine_is_refused() {
    for host in ["localhost", "LOCALHOST", "localhost."] {
        let refused = Fetcher::new().fetch(&format!("https://{host}/"), 9).await;
        assert_eq!(refused, Err(FetchError::NotPublic), "{host}");
    }
}

#[test]
fn refusals_say_what_to_do_and_nothing_of_the_inside() {
    for refusal in [
        FetchError::BadAddress,
        FetchError::NotPublic,
        FetchError::Unreachable,
        FetchError::Redirect,
        FetchError::Status(404),
        FetchError::TooLarge { max: 1000 },
        FetchError::TooSlow,
        FetchError::BrokenOff,
    ] {
        let words = refusal.to_string();
        let advice = words.split_once("; ").unwrap().1;
        assert!(["send ", "check ", "try "].iter().any(|verb| advice.starts_with(verb)), "{words}");
        assert!(!words.contains("127.") && !words.contains("::"), "{words}");
    }
}

#[tokio::test]
async fn addresses_of_the_inside_are_refused_in_every_spelling() {
    let guarded = Fetcher::with(Policy {
        resolver: Names::always("93.184.216.34"),
        allows: is_public,
        any_port: false,
        root: None,
    });
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0x7f.1",
        "10.0.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0",
        "0.0.0.0",
        "255.255.255.255",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fd00::1]",
        "１２７.０.０.１",
        "127。0。0。1",
    ] {
        let refused = guarded.fetch(&format!("https://{host}/"), 9).await;
        assert_eq!(refused, Err(FetchError::NotPublic), "{host}");
    }
    // The port of https may be written.
    assert_eq!(guarded.fetch("https://10.0.0.1:443/", 9).await, Err(FetchError::NotPublic));
    for url in [
        "http://pictures.example/",
        "ftp://pictures.example/",
        "file:///etc/passwd",
        "data:image/png;base64,AA",
        "//pictures.example/",
        "https://user@pictures.example/",
        "https://user:secret@pictures.example/",
        "https://pictures.example:8443/",
        "https://",
        "",
        "pictures.example/x.png",
        "https://exa mple/",
        "https://pictures.example:99999/",
    ] {
        assert_eq!(guarded.fetch(url, 9).await, Err(FetchError::BadAddress), "{url}");
    }
    let long = format!("https://pictures.example/{}", "x".repeat(3000));
    assert_eq!(guarded.fetch(&long, 9).await, Err(FetchError::BadAddress));
}

//! The whole way of an avatar: from an https server on loopback, through a whole Arena and a process that
//! makes the picture, to its public address; and back, when it is replaced.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use kernel::{
    Fault,
    tx::{Command, Tx, Verdict},
};
use net::{Fetcher, Policy, Resolve};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use serde_json::{Value, json};
use store::Place;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;
use url::Url;

use super::{
    avatars::Workshop,
    house::{House, Plan},
};
use crate::{
    config::{environment::Environment, layers},
    demo::run::enrol,
};

const HOST: &str = "pictures.example";
/// Sweeps come every few seconds.
const PATIENCE: Duration = Duration::from_mins(1);

/// What is served, by path.
fn content(path: &str) -> Option<&'static [u8]> {
    match path {
        "/first.png" => Some(include_bytes!("../../../pictures/tests/it/data/palette.png")),
        "/second.avif" => Some(include_bytes!("../../../pictures/tests/it/data/alpha.avif")),
        "/moving.avif" => Some(include_bytes!("../../../pictures/tests/it/data/seq.avif")),
        "/no.png" => Some(b"<svg onload=alert(1)>"),
        _ => None,
    }
}

/// Serves [`content`]; answers the port and the certificate.
async fn origin() -> (u16, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed([HOST.to_owned()]).unwrap();
    let root = made.cert.der().to_vec();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(root.clone())], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let (mut head, mut some) = (Vec::new(), [0; 1024]);
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(count @ 1..) = stream.read(&mut some).await else { break };
                head.extend_from_slice(&some[..count]);
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let body = content(head.split(' ').nth(1).unwrap_or_default());
            let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
            let body = body.unwrap_or_default();
            let length = body.len();
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            // A client that has seen enough leaves.
            let _ = stream.write_all(&[answer.as_bytes(), body].concat()).await;
            let _ = stream.shutdown().await;
        }
    });
    (port, root)
}

struct Loopback;

impl Resolve for Loopback {
    fn resolve<'a>(&'a self, host: &'a str) -> net::Resolving<'a> {
        Box::pin(async move {
            if host == HOST {
                Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])
            } else {
                Err(io::ErrorKind::NotFound.into())
            }
        })
    }
}

/// This program as it was built beside its tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().and_then(Path::parent).unwrap().join("arena")
}

struct World {
    house: House,
    address: String,
    key: String,
    http: reqwest::Client,
}

impl World {
    async fn open(directory: &Path, root: Vec<u8>, nickname: &str) -> Self {
        let http = client();
        let places = layers::Places { data_dir: Some(directory.to_owned()), ..Default::default() };
        let mut loaded = layers::load(&Environment::of(&[]), &places, &[]).unwrap();
        loaded.config.http.drain_seconds = 1;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let policy = Policy {
            resolver: Arc::new(Loopback),
            allows: |address| address.is_loopback(),
            any_port: true,
            root: Some(root),
        };
        let plan = Plan {
            loaded: &loaded,
            place: Place::Directory(directory.to_owned()),
            listener,
            public_url: Url::parse(&address).unwrap(),
            drain_time: Duration::from_secs(1),
            on_request: None,
            workshop: Workshop { fetcher: Arc::new(Fetcher::with(policy)), program: program() },
        };
        let house = House::open(plan).await.unwrap();
        let key = enrol(&house, nickname).await.unwrap();
        Self { house, address, key, http }
    }

    async fn present(&self, input: &Value) -> (u16, Value) {
        let url = format!("{}/duels/v1/set_presentation", self.address);
        let sent = self.http.post(url).bearer_auth(&self.key).json(input).send().await.unwrap();
        (sent.status().as_u16(), sent.json().await.unwrap())
    }

    /// The status, the type and the bytes of an address.
    async fn get(&self, url: &str) -> (u16, String, Vec<u8>) {
        let got = self.http.get(url).send().await.unwrap();
        let media = got.headers()["content-type"].to_str().unwrap().to_owned();
        (got.status().as_u16(), media, got.bytes().await.unwrap().to_vec())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_avatar_is_fetched_made_shown_and_swept_when_it_is_replaced() {
    if !program().exists() {
        let test = "serve::avatars_whole_test::an_avatar_is_fetched_made_shown_and_swept_when_it_is_replaced";
        return testkit::skip::skip(test, "arena itself is not built; run the tests of the whole package");
    }
    let home = tempfile::tempdir().unwrap();
    let (port, root) = origin().await;
    let world = World::open(&home.path().join("data"), root, "alpha").await;
    let images = home.path().join("data/avatars");
    let count = || std::fs::read_dir(&images).unwrap().count();
    let from = |path: &str| format!("https://{HOST}:{port}{path}");

    let (status, first) = world.present(&json!({"avatar_url": from("/first.png"), "bio": "hello"})).await;
    assert_eq!(status, 200, "{first}");
    let first = first["presentation"]["avatar_url"].as_str().unwrap().to_owned();
    assert!(first.starts_with(&format!("{}/avatars/", world.address)), "{first}");
    let (status, media, image) = world.get(&first).await;
    assert_eq!(
        (status, media.as_str(), &image[..4], &image[8..12]),
        (200, "image/webp", &b"RIFF"[..], &b"WEBP"[..])
    );
    assert_eq!(count(), 1);

    // What fails leaves everything as it was, the words beside the image too.
    for (path, words) in [
        ("/nowhere.png", "avatar_url was not fetched"),
        ("/moving.avif", "avatar_url was not taken"),
        ("/no.png", "avatar_url was not taken"),
    ] {
        let (status, refused) = world.present(&json!({"avatar_url": from(path), "bio": "other"})).await;
        assert_eq!((status, &refused["error"]["code"]), (400, &json!("IMAGE_REJECTED")), "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().starts_with(words), "{refused}");
    }
    // A wrong address is the caller's mistake, not the image's.
    let long = format!("https://{HOST}:{port}/{}", "x".repeat(net::URL_CHARS_MAX));
    for url in ["http://127.0.0.1/a.png", "https://me:secret@example.com/a.png", "no address", &long] {
        let (status, refused) = world.present(&json!({"avatar_url": url, "bio": "other"})).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (400, &json!("VALIDATION_FAILED")),
            "{url}: {refused}"
        );
        assert!(
            refused["error"]["message"].as_str().unwrap().starts_with("avatar_url cannot be used"),
            "{refused}"
        );
    }
    let (status, second) = world.present(&json!({"avatar_url": from("/second.avif")})).await;
    assert_eq!((status, &second["presentation"]["bio"]), (200, &json!("hello")), "{second}");
    let second = second["presentation"]["avatar_url"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    let begun = Instant::now();
    while world.get(&first).await.0 != 404 || count() != 1 {
        assert!(begun.elapsed() < PATIENCE, "the replaced image is still there");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (status, _, other) = world.get(&second).await;
    assert!(status == 200 && other != image);

    let (status, gone) = world.present(&json!({"avatar_url": null})).await;
    assert_eq!((status, &gone["presentation"]["avatar_url"]), (200, &Value::Null), "{gone}");
    while count() != 0 {
        assert!(begun.elapsed() < PATIENCE, "an image without an agent is still there");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    world.house.close().await;
}

kernel::statements! {
    AGE = "UPDATE avatar_object SET since_ms = 0 WHERE state = 'PENDING'";
    SHOWN = "SELECT avatar FROM agent WHERE nickname = $1";
}

/// Images that were being made when their server was killed are old by now.
struct Age;

impl Command for Age {
    type Out = ();

    fn name(&self) -> &'static str {
        "test.age"
    }

    fn run(&self, tx: &mut dyn Tx) -> Result<Verdict<()>, Fault> {
        tx.exec(&AGE, &[]).map(|_| Verdict::Done(()))
    }
}

const KILL_TEST: &str = "serve::avatars_whole_test::whenever_a_server_is_killed_no_image_is_lost_or_left";
/// Set in the process that is killed: where its data is.
const CHILD: &str = "ARENA_TEST_AVATAR_DATA";
const ROOT: &str = "root.der";

/// A server of its own process, told by its address and a key.
struct Child(std::process::Child);

impl Child {
    fn start(data: &Path) -> (Self, String, String) {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", KILL_TEST, "--nocapture"])
            .env(CHILD, data)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let lines = io::BufReader::new(child.stdout.take().unwrap());
        let child = Self(child);
        let told = io::BufRead::lines(lines)
            .map_while(Result::ok)
            .find_map(|line| line.split_once("ready ").map(|(_, told)| told.to_owned()));
        let told = told.expect("the child became ready");
        let (address, key) = told.split_once(' ').unwrap();
        (child, address.to_owned(), key.to_owned())
    }
}

impl Drop for Child {
    /// Kills it as a crash would.
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whenever_a_server_is_killed_no_image_is_lost_or_left() {
    if let Some(data) = std::env::var_os(CHILD) {
        let root = std::fs::read(Path::new(&data).with_file_name(ROOT)).unwrap();
        let world = World::open(Path::new(&data), root, "alpha").await;
        println!("ready {} {}", world.address, world.key);
        return std::future::pending().await;
    }
    if !program().exists() {
        return testkit::skip::skip(
            KILL_TEST,
            "arena itself is not built; run the tests of the whole package",
        );
    }
    let (port, root) = origin().await;
    let http = client();
    let (mut before, mut after) = (0, 0);
    // Killed so many milliseconds after the request, or as soon as the image is a file.
    for delay in [Some(0), Some(2), Some(8), Some(20), Some(40), Some(80), Some(5_000), None, None, None] {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(ROOT), &root).unwrap();
        let (data, images) = (home.path().join("data"), home.path().join("data/avatars"));
        let count = || std::fs::read_dir(&images).unwrap().count();
        let (child, address, key) = Child::start(&data);
        let input = json!({"avatar_url": format!("https://{HOST}:{port}/first.png")});
        let request =
            http.post(format!("{address}/duels/v1/set_presentation")).bearer_auth(&key).json(&input);
        let asked = tokio::spawn(async move { request.send().await.map(|sent| sent.status().as_u16()).ok() });
        match delay {
            Some(delay) => tokio::time::sleep(Duration::from_millis(delay)).await,
            None => {
                while count() == 0 {
                    tokio::task::yield_now().await;
                }
            }
        }
        drop(child);
        let answered = asked.await.unwrap();

        let world = World::open(&data, root.clone(), "other").await;
        let shown = world.house.store.read(|tx| tx.row(&SHOWN, &["alpha".into()])).await.unwrap();
        let shown = shown.unwrap().opt_text(0).unwrap();
        assert!(answered.is_none() || (answered == Some(200) && shown.is_some()), "{answered:?} {shown:?}");
        world.house.store.write(Box::new(Age)).await.unwrap();
        let begun = Instant::now();
        while count() != usize::from(shown.is_some()) {
            assert!(begun.elapsed() < PATIENCE, "{delay:?}: {} files, shown {shown:?}", count());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        match shown {
            None => before += 1,
            Some(name) => {
                after += 1;
                let url = format!("{}/avatars/{name}.webp", world.address);
                assert_eq!(world.get(&url).await.0, 200, "{delay:?}");
            }
        }
        world.house.close().await;
    }
    assert!(before > 0 && after > 0, "{before} killed before and {after} after the image was shown");
}

fn client() -> reqwest::Client {
    // As the program does at its start; another test may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

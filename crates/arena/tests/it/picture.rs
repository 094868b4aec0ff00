//! Avatars through the real program: the process that makes pictures, on whole and on damaged files, and
//! what a server answers.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::json;

use crate::{
    http::{call, get},
    process::Home,
};

const STILL: &[u8] = include_bytes!("../../../pictures/tests/it/data/quad-420.avif");
const CLEAR: &[u8] = include_bytes!("../../../pictures/tests/it/data/alpha.avif");
const BOMB: &[u8] = include_bytes!("../../../pictures/tests/it/data/bomb.avif");

fn picture(file: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_arena"))
        .arg("picture")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A process that has seen enough closes its input.
    let _ = child.stdin.take().unwrap().write_all(file);
    child.wait_with_output().unwrap()
}

#[test]
fn a_picture_comes_out_and_a_refusal_in_words() {
    let made = picture(STILL);
    assert!(made.status.success(), "{made:?}");
    assert!(made.stdout.starts_with(b"RIFF") && made.stdout[8..12] == *b"WEBP");
    for (file, words) in
        [(BOMB, "6000 × 6000"), (b"GIF89a", "a GIF"), (b"", "empty"), (&STILL[..200], "damaged")]
    {
        let refused = picture(file);
        assert_eq!(refused.status.code(), Some(6), "{refused:?}");
        assert!(refused.stdout.is_empty() && String::from_utf8(refused.stderr).unwrap().contains(words));
    }
}

/// The decoder of AVIF may end its process; a picture, a refusal or that end are all that may happen.
#[test]
fn damaged_avif_files_end_at_most_their_own_process() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[5; 32]);
    let mut runner =
        TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::with_cases(60) }, rng);
    let flips = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6);
    runner
        .run(&(any::<bool>(), flips, any::<prop::sample::Index>()), |(clear, flips, cut)| {
            let mut file = if clear { CLEAR.to_vec() } else { STILL.to_vec() };
            for (at, value) in &flips {
                let at = at.index(file.len());
                file[at] = *value;
            }
            if flips.len() == 1 {
                file.truncate(cut.index(file.len()));
            }
            let made = picture(&file);
            let answered = matches!(made.status.code(), Some(0 | 1 | 6 | 101) | None);
            prop_assert!(answered, "{:?}", made.status);
            prop_assert!(made.stdout.is_empty() || made.stdout.starts_with(b"RIFF"));
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_server_refuses_addresses_of_the_inside_and_lives_on() {
    let home = Home::new();
    let key = home.person("alpha");
    let server = home.serve(&[]);
    let (shape, place) = (
        ("VALIDATION_FAILED", "avatar_url cannot be used"),
        ("IMAGE_REJECTED", "avatar_url was not fetched"),
    );
    for (url, (code, words)) in [
        ("http://example.com/a.png", shape),
        ("https://127.0.0.1/a.png", place),
        ("https://[::1]/a.png", place),
        ("https://2130706433/a.png", place),
        ("https://169.254.169.254/latest/meta-data", place),
        ("https://user:secret@example.com/a.png", shape),
        ("https://localhost/a.png", place),
        ("file:///etc/passwd", shape),
        ("x", shape),
    ] {
        let refused = call(&server.address, "set_presentation", &key, &json!({"avatar_url": url}));
        assert_eq!(refused.status, 400, "{url}: {}", refused.body);
        let error = &refused.json()["error"];
        assert_eq!(error["code"], code, "{url}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{url}: {message}");
        assert!(!message.contains("secret") && !message.contains("127.0.0.1"), "{url}: {message}");
    }
    let shown = call(&server.address, "set_presentation", &key, &json!({"avatar_url": null}));
    assert_eq!((shown.status, shown.json()["presentation"]["avatar_url"].is_null()), (200, true));
    for path in [
        "/avatars/x.webp",
        "/avatars/0123456789abcdef0123456789abcdef.webp",
        "/avatars/..%2farena.db",
        "/avatars/",
    ] {
        let missing = get(&format!("http://{}{path}", server.address));
        assert_eq!((missing.status, missing.header("content-type")), (404, "application/json"), "{path}");
    }
    server.stop();
    assert!(home.data().join("avatars").is_dir());
}

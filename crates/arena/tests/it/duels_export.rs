//! `arena duels export`: a file with every settled duel, whole or not there, whatever the server does.

use std::{
    io::{Read, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::Path,
    time::Duration,
};

use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::{Field, RowAccessor},
};
use serde_json::{Value, json};

use crate::{
    faults::load::until,
    http::{call, free_address, get},
    process::{Home, Ran, Running, Server, names_in},
};

fn export(home: &Home, address: &str, arguments: &[&str]) -> Ran {
    let server = format!("http://{address}");
    home.run(&[&["duels", "export", "--server", &server], arguments].concat())
}

/// A duel between two new people that says `words`; answers its public record once it is part of the export.
fn play(home: &Home, server: &Server, names: [&str; 2], words: &[&str]) -> Value {
    let keys = names.map(|name| home.person(name));
    for key in &keys {
        assert_eq!(call(&server.address, "enter_arena", key, &json!({"pitch": "hi"})).status, 200);
    }
    let began = call(&server.address, "challenge_agent", &keys[0], &json!({"nickname": names[1]}));
    assert_eq!(began.status, 200, "{}", began.body);
    for word in words {
        let said =
            call(&server.address, "send_message", &keys[0], &json!({"nickname": names[1], "message": word}));
        assert_eq!(said.status, 200, "{}", said.body);
    }
    for (key, other) in keys.iter().zip([names[1], names[0]]) {
        let told = call(&server.address, "submit_demand", key, &json!({"nickname": other, "count": 9}));
        assert_eq!(told.status, 200, "{}", told.body);
    }
    let mut found = None;
    until("the duel is in the chronicle", || {
        let page = get(&format!("http://{}/duels/v1/export", server.address)).json();
        let duels = page["duels"].as_array().unwrap();
        found = duels.iter().find(|duel| duel["participants"][0]["nickname"] == names[0]).cloned();
        found.is_some()
    });
    found.unwrap()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Accepted in messages: hostile to HTML, shells and readers' eyes.
const WORDS: &str = "<script>\"' $(x) \u{202e}txt\u{202c} 字\nsecond line";

#[test]
fn played_duels_come_out_in_both_formats() {
    let home = Home::new();
    let server = home.serve(&[]);
    let first = play(&home, &server, ["alpha", "beta"], &[WORDS]);
    let second = play(&home, &server, ["gamma", "delta"], &[]);
    let file = home.path().join("duels.jsonl");
    let path = file.display().to_string();

    let ran = export(&home, &server.address, &["--since", "2020-01-01", "--output", &path, "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap();
    let bytes = std::fs::metadata(&file).unwrap().len();
    assert_eq!(
        summary,
        json!({"file": path, "format": "jsonl", "duels": 2, "messages": 1, "bytes": bytes, "through": 2})
    );
    assert_eq!(lines(&file), [first.clone(), second.clone()]);
    let address = first["duel_url"].as_str().unwrap();
    assert_eq!(lines(&file)[0], get(address).json(), "one shape");

    // What is there stays, unless it is said that it goes.
    let ran = export(&home, &server.address, &["--after", "1", "--output", &path]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert_eq!(lines(&file).len(), 2);
    let ran = export(&home, &server.address, &["--after", "1", "--output", &path, "--force"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("1 duels with 0 messages") && ran.stdout.contains("--after 2"),
        "{}",
        ran.stdout
    );
    assert_eq!(lines(&file), [second]);

    let table = home.path().join("duels.parquet");
    let path = table.display().to_string();
    let ran =
        export(&home, &server.address, &["--since", "2020-01-01", "--format", "parquet", "--output", &path]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let reader = SerializedFileReader::new(std::fs::File::open(&table).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].get_string(0).unwrap(), first["slug"].as_str().unwrap());
    let Some((_, Field::ListInternal(said))) =
        rows[0].get_column_iter().find(|(name, _)| *name == "transcript")
    else {
        panic!("no transcript in {}", rows[0]);
    };
    let Field::Group(line) = &said.elements()[0] else { panic!("{said:?}") };
    assert_eq!(line.get_string(3).unwrap(), WORDS);

    // Nothing in the time asked for: a good file without rows.
    for (format, name) in [("jsonl", "none.jsonl"), ("parquet", "none.parquet")] {
        let none = home.path().join(name);
        let window = ["--since", "2020-01-01", "--until", "2020-01-02", "--format", format];
        let ran = export(
            &home,
            &server.address,
            &[&window[..], &["--output", &none.display().to_string()]].concat(),
        );
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(!ran.stdout.contains("--after"), "later ones are not after a number: {}", ran.stdout);
        if format == "jsonl" {
            assert_eq!(lines(&none), Vec::<Value>::new());
        } else {
            let reader = SerializedFileReader::new(std::fs::File::open(&none).unwrap()).unwrap();
            assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
        }
    }
    server.stop();
}

#[test]
fn what_cannot_be_done_is_said_and_leaves_nothing() {
    let home = Home::new();
    let server = home.serve(&[]);
    let place = home.path().join("out");
    std::fs::create_dir(&place).unwrap();
    std::os::unix::fs::symlink("nowhere", home.path().join("link")).unwrap();
    let into = |name: &str| place.join(name).display().to_string();
    let here = home.path().display().to_string();
    let link = home.path().join("link").display().to_string();
    for (arguments, code, part) in [
        (vec!["--since", "2999-01-01", "--output", &into("x")], 6, "since is in the future"),
        (
            vec!["--since", "2020-01-02", "--until", "2020-01-01", "--output", &into("x")],
            2,
            "--since is after --until",
        ),
        (vec!["--since", "yesterday", "--output", &into("x")], 2, "2026-08-24T14:27:00Z"),
        (vec!["--output", &into("x")], 2, "--since"),
        (vec!["--after", "7", "--output", &into("x")], 6, "numbered 0 settled duels"),
        (vec!["--after=-1", "--output", &into("x")], 2, "--after"),
        (vec!["--since", "2020-01-01", "--output", &into("no/such/x")], 2, "cannot be written"),
        (vec!["--since", "2020-01-01", "--force", "--output", &here], 2, "not a plain file"),
        (vec!["--since", "2020-01-01", "--force", "--output", &link], 2, "not a plain file"),
        (vec!["--since", "2020-01-01", "--force", "--output", "/dev/full"], 2, "not a plain file"),
        (vec!["--since", "2020-01-01", "--format", "csv"], 2, "csv"),
    ] {
        let ran = export(&home, &server.address, &arguments);
        assert_eq!(ran.code, code, "{arguments:?} {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(part), "{arguments:?} {}", ran.stderr);
        assert_eq!(names_in(&place), Vec::<String>::new(), "{arguments:?}");
    }
    server.stop();
    let ran = export(&home, &free_address(), &["--since", "2020-01-01", "--output", &into("x")]);
    assert_eq!((ran.code, names_in(&place)), (7, vec![]), "{}", ran.stderr);
}

/// Answers one request after the other with these bodies and is gone after the last.
fn answers(bodies: Vec<(&'static str, String)>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serving = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for (status, body) in bodies {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let (mut request, mut chunk) = (Vec::new(), [0; 1024]);
            while !request.windows(4).any(|window| window == b"\r\n\r\n") {
                let read = stream.read(&mut chunk).unwrap();
                assert!(read > 0, "the client broke off");
                request.extend_from_slice(&chunk[..read]);
            }
            let line = String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned();
            asked.push(line);
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            )
            .unwrap();
        }
        asked
    });
    (address, serving)
}

const OK: &str = "200 OK";

fn duel(slug: &str, messages: i64, transcript: &[i64]) -> Value {
    let lines: Vec<Value> = transcript
        .iter()
        .map(|seq| json!({"seq": seq, "nickname": "alpha", "sent_at": "2026-08-24T14:27:00.000Z", "message": "\u{1b}[31m"}))
        .collect();
    json!({"slug": slug, "messages": messages, "transcript": lines, "more_messages_url": "https://elsewhere.example/"})
}

#[test]
fn a_server_that_goes_or_lies_leaves_no_half_file() {
    let home = Home::new();
    let place = home.path().join("out");
    std::fs::create_dir(&place).unwrap();
    let path = place.join("x").display().to_string();
    let slug = "0".repeat(24);
    let page = |duels: Vec<Value>, next: Option<i64>| {
        (OK, json!({"duels": duels, "next_after": next, "through": 9}).to_string())
    };
    let more =
        |transcript: &[i64]| (OK, json!({"transcript": duel("", 0, transcript)["transcript"]}).to_string());
    for (bodies, code, part) in [
        (
            vec![page(vec![duel(&slug, 0, &[])], Some(3))],
            7,
            "check the address, and that the server is running",
        ),
        (vec![page(vec![], Some(3)), ("503 Service Unavailable", "{}".to_owned())], 7, "503"),
        (vec![page(vec![], Some(0))], 7, "its own next one"),
        (vec![page(vec![duel("../../x", 0, &[])], None)], 7, "without address"),
        (vec![page(vec![json!([])], None)], 7, "without address"),
        (vec![page(vec![duel(&slug, 0, &[1])], None)], 7, "more messages than it says"),
        (vec![page(vec![duel(&slug, 2, &[1])], None), more(&[])], 7, "cannot be read"),
        (vec![page(vec![duel(&slug, 2, &[1])], None), more(&[2, 3])], 7, "more messages than it says"),
        (vec![(OK, "{\"duels\":{}}".to_owned())], 7, "another shape"),
        (vec![(OK, "<html>".to_owned())], 7, "no JSON"),
        (
            vec![("400 Bad Request", json!({"error": {"message": "\u{1b}]0;x\u{202e}"}}).to_string())],
            6,
            "\\u{1b}]0;x\\u{202e}",
        ),
    ] {
        let (address, serving) = answers(bodies);
        let ran = export(&home, &address, &["--since", "2020-01-01", "--output", &path]);
        serving.join().unwrap();
        assert_eq!(ran.code, code, "{part}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
        assert!(!ran.stderr.contains('\u{1b}'));
        assert_eq!(names_in(&place), Vec::<String>::new(), "{part}");
    }
    // The same record in Parquet lacks what a row needs.
    let (address, serving) = answers(vec![page(vec![duel(&slug, 0, &[])], None)]);
    let ran = export(&home, &address, &["--since", "2020-01-01", "--format", "parquet", "--output", &path]);
    serving.join().unwrap();
    assert_eq!((ran.code, names_in(&place)), (7, vec![]), "{}", ran.stderr);
}

#[test]
fn pages_and_transcripts_are_put_together() {
    let home = Home::new();
    let path = home.path().join("x");
    let [one, two] = ["1", "2"].map(|digit| digit.repeat(24));
    let page = |duels: Vec<Value>, next: Option<i64>| {
        (OK, json!({"duels": duels, "next_after": next, "through": 9}).to_string())
    };
    let (address, serving) = answers(vec![
        page(vec![duel(&one, 3, &[1])], Some(5)),
        (OK, json!({"transcript": duel("", 0, &[2])["transcript"]}).to_string()),
        (OK, json!({"transcript": duel("", 0, &[3])["transcript"]}).to_string()),
        page(vec![], Some(7)),
        page(vec![duel(&two, 1, &[1])], None),
    ]);
    let arguments =
        ["--since", "2026-08-24T14:27:00+02:00", "--after", "2", "--output", &path.display().to_string()];
    let ran = export(&home, &address, &arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let since = "since=2026-08-24T12%3A27%3A00.000Z";
    assert_eq!(
        serving.join().unwrap(),
        [
            format!("GET /duels/v1/export?{since}&after=2 HTTP/1.1"),
            format!("GET /duels/v1/messages/{one}?after=1 HTTP/1.1"),
            format!("GET /duels/v1/messages/{one}?after=2 HTTP/1.1"),
            format!("GET /duels/v1/export?{since}&after=5&through=9 HTTP/1.1"),
            format!("GET /duels/v1/export?{since}&after=7&through=9 HTTP/1.1"),
        ]
    );
    let mut whole = duel(&one, 3, &[1, 2, 3]);
    whole["more_messages_url"] = Value::Null;
    assert_eq!(lines(&path), [whole, duel(&two, 1, &[1])]);
    assert!(!std::fs::read_to_string(&path).unwrap().contains('\u{1b}'), "escaped, as JSON is");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o400, 0o400);
}

#[test]
fn a_signal_gives_up_and_cleans_up() {
    let home = Home::new();
    let place = home.path().join("out");
    std::fs::create_dir(&place).unwrap();
    // It takes the connection and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let path = place.join("x").display().to_string();
    let command = ["duels", "export", "--since", "2020-01-01", "--server", &server, "--output", &path];
    let running = Running::start(&mut home.command(&command));
    let (_stream, _) = listener.accept().unwrap();
    assert_eq!(names_in(&place).len(), 1, "the part");
    running.signal("INT");
    let (status, _, stderr) = running.wait();
    assert_eq!(status.code(), Some(1), "{stderr:?}");
    assert_eq!(names_in(&place), Vec::<String>::new());
}

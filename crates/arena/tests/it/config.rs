//! Where configuration comes from, and what is wrong with it.

use std::fs;

use serde_json::Value;

use crate::process::{Home, Ran};

fn row<'a>(shown: &'a Value, key: &str) -> (&'a str, &'a str) {
    let found = shown.as_array().unwrap().iter().find(|row| row["key"] == key).unwrap();
    (found["value"].as_str().unwrap_or("-"), found["origin"].as_str().unwrap())
}

#[test]
fn flags_beat_variables_which_beat_the_file_which_beats_defaults() {
    let home = Home::new();
    fs::create_dir_all(home.data()).unwrap();
    let file = home.data().join("arena.toml");
    let show = |arguments: &[&str], variables: &[(&str, &str)]| -> Value {
        let mut command = home.command(&["config", "show", "--json"]);
        command.args(arguments).envs(variables.iter().copied());
        let ran = Ran::of(&mut command);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        serde_json::from_str(&ran.stdout).unwrap()
    };
    assert_eq!(row(&show(&[], &[]), "http.listen"), ("127.0.0.1:7878", "default"));
    assert_eq!(row(&show(&[], &[]), "database.url"), ("-", "not set"));

    fs::write(&file, "[http]\nlisten = \"127.0.0.1:1\"\nallowed_hosts = [\"a.example\", \"b.example\"]\n[clock]\nspeed = 2.5\n").unwrap();
    let from_file = format!("file {}", file.display());
    let shown = show(&[], &[]);
    assert_eq!(row(&shown, "http.listen"), ("127.0.0.1:1", from_file.as_str()));
    assert_eq!(row(&shown, "clock.speed"), ("2.5", from_file.as_str()));
    assert_eq!(row(&shown, "http.allowed_hosts"), ("a.example, b.example", from_file.as_str()));

    let variables = [("ARENA_HTTP__LISTEN", "127.0.0.1:2"), ("ARENA_HTTP__ALLOWED_HOSTS", "c.example")];
    let shown = show(&[], &variables);
    assert_eq!(row(&shown, "http.listen"), ("127.0.0.1:2", "env ARENA_HTTP__LISTEN"));
    assert_eq!(row(&shown, "http.allowed_hosts"), ("c.example", "env ARENA_HTTP__ALLOWED_HOSTS"));
    assert_eq!(row(&shown, "clock.speed"), ("2.5", from_file.as_str()));

    let shown = show(&["--listen", "127.0.0.1:3"], &variables);
    assert_eq!(row(&shown, "http.listen"), ("127.0.0.1:3", "flag --listen"));
    assert_eq!(row(&shown, "data_dir").1, "env ARENA_DATA_DIR");
    assert_eq!(row(&show(&["--data-dir", "/nowhere"], &[]), "data_dir"), ("/nowhere", "flag --data-dir"));
}

#[test]
fn another_file_can_be_named_and_must_then_exist() {
    let home = Home::new();
    let file = home.path().join("other.toml");
    fs::write(&file, "[http]\nroot_mcp = \"duels\"\n").unwrap();
    let shown = home.json(&["config", "show", "--json", "--config", file.to_str().unwrap()]);
    assert_eq!(row(&shown, "http.root_mcp").1, format!("file {}", file.display()));
    let missing = home.run(&["config", "show", "--config", "/nowhere/arena.toml"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("/nowhere/arena.toml"), "{}", missing.stderr);
}

#[test]
fn the_demo_is_no_part_of_the_installation() {
    let home = Home::new();
    fs::create_dir_all(home.data()).unwrap();
    fs::write(home.data().join("arena.toml"), "[http]\nlisten = \"192.0.2.1:1\"\n").unwrap();
    let mut demo = home.command(&["demo", "--duels", "1", "--json"]);
    let ran = Ran::of(demo.env("TMPDIR", home.path()).env("ARENA_DATABASE__URL", "postgres://nowhere/arena"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(crate::process::names_in(&home.data()), ["arena.toml"]);
}

#[test]
fn secrets_are_masked() {
    let home = Home::new();
    let mut command = home.command(&["config", "show"]);
    command
        .env("ARENA_DATABASE__URL", "postgres://me:hunter2@db.example/arena")
        .env("ARENA_API_KEY", "arena_sk_0123456789");
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("postgres://me:****@db.example/arena"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("hunter2") && !ran.stdout.contains("0123456789"), "{}", ran.stdout);
}

#[test]
fn mistakes_are_named_with_what_was_meant() {
    let home = Home::new();
    fs::create_dir_all(home.data()).unwrap();
    let file = home.data().join("arena.toml");
    for (text, words) in [
        ("[http]\nlisen = \"x\"\n", &["arena.toml", "http.lisen", "did you mean http.listen"][..]),
        ("listen = \"x\"\n", &["unknown key listen", "http.listen"]),
        ("[http]\nlisten = 5\n", &["http.listen", "file", "string"]),
        ("[http]\nlisten = \"nowhere\"\n", &["http.listen", "HOST:PORT"]),
        ("[clock]\nspeed = 0\n", &["clock.speed", "above 0"]),
        ("[clock]\nspeed = 1.2345\n", &["clock.speed", "three places"]),
        ("[database]\nurl = \"mysql://x\"\n", &["database.url", "PostgreSQL"]),
        ("[http\n", &["arena.toml", "TOML"]),
    ] {
        fs::write(&file, text).unwrap();
        let ran = home.run(&["config", "show"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{text}");
        for word in words {
            assert!(ran.stderr.contains(word), "{text}: {word} is not in {}", ran.stderr);
        }
    }
    fs::remove_file(&file).unwrap();
    let ran = Ran::of(home.command(&["config", "show"]).env("ARENA_HTTP__ROT_MCP", "duels"));
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("ARENA_HTTP__ROT_MCP") && ran.stderr.contains("ARENA_HTTP__ROOT_MCP"),
        "{}",
        ran.stderr
    );
    // Nothing but configuration reads these.
    assert_eq!(Ran::of(home.command(&["config", "show"]).env("ARENA_TEST_PG_URL", "x")).code, 0);
}

/// Both endpoints of a language model are settings, and what they name is really asked.
#[test]
fn outside_models_are_asked_where_the_settings_say() {
    let home = Home::new();
    let (alpha, beta) = (home.person("alpha"), home.person("beta"));
    let vector: Vec<f32> = vec![0.5; 8];
    let embedding = serde_json::json!({"data": [{"index": 0, "embedding": vector}]}).to_string();
    let model = crate::http::Answering::with(embedding);
    let base = format!("http://{}/v1", model.address);
    let settings = [
        ("ARENA_SEMANTIC__EMBED_URL", base.as_str()),
        ("ARENA_SEMANTIC__EMBED_MODEL", "tiny"),
        ("ARENA_SEMANTIC__EMBED_DIMS", "8"),
        ("ARENA_SEMANTIC__EMBED_KEY", "sk-secret"),
    ];
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.envs(settings).env("ARENA_METRICS__LISTEN", "off");
    let server = crate::process::Server::start(&mut command);
    let call = |tool: &str, key: &str, input: Value| crate::http::call(&server.address, tool, key, &input);
    call("enter_arena", &beta, serde_json::json!({"pitch": "Half each"}));
    let found = call("search_agents", &alpha, serde_json::json!({"query": "fair"}));
    assert_eq!(
        (found.status, &found.json()["agents"][0]["nickname"]),
        (200, &serde_json::json!("beta")),
        "{}",
        found.body
    );
    let asked = model.asked();
    assert!(asked.iter().all(|asked| asked.starts_with("POST /v1/embeddings ")), "{asked:?}");
    assert!(asked.iter().any(|asked| asked.contains("sk-secret") && asked.contains("\"tiny\"")), "{asked:?}");
    server.stop();
    // Half of a pair is told.
    let half = Ran::of(home.command(&["config", "show"]).env("ARENA_SEMANTIC__CHAT_URL", &base));
    assert!(half.code == 2 && half.stderr.contains("semantic.chat_model"), "{}", half.stderr);
    let shown = Ran::of(home.command(&["config", "show"]).envs(settings));
    assert!(shown.code == 0 && !shown.stdout.contains("sk-secret"), "{}", shown.stdout);
}

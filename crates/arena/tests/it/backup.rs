//! Backups: made beside a running server, checked before anything changes, and nothing is ever deleted.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    http::{call, get},
    process::{Home, Ran, names_in},
};

const IMAGE: &str = "0123456789abcdef0123456789abcdef.webp";

fn file(home: &Home, name: &str) -> String {
    home.path().join(name).display().to_string()
}

/// A home with two people, a settled duel and an image, and the key of one of them.
fn lived_in() -> (Home, String) {
    let home = Home::new();
    let (alpha, beta) = (home.person("alpha"), home.person("beta"));
    let server = home.serve(&[]);
    for key in [&alpha, &beta] {
        call(&server.address, "enter_arena", key, &json!({"pitch": "hi"}));
    }
    call(&server.address, "challenge_agent", &alpha, &json!({"nickname": "beta"}));
    call(&server.address, "submit_demand", &alpha, &json!({"nickname": "beta", "count": 9}));
    call(&server.address, "submit_demand", &beta, &json!({"nickname": "alpha", "count": 9}));
    server.stop();
    fs::write(home.data().join("avatars").join(IMAGE), b"an image").unwrap();
    (home, alpha)
}

#[test]
fn what_is_backed_up_beside_a_server_comes_back_whole() {
    let (home, alpha) = lived_in();
    let target = file(&home, "copy.arena");
    let server = home.serve(&[]);
    let made = home.json(&["admin", "backup", &target, "--json"]);
    assert_eq!(
        (made["avatars"].as_u64(), made["version"].as_str()),
        (Some(1), Some(env!("CARGO_PKG_VERSION")))
    );
    // The server went on meanwhile, and what it does now is not in the copy.
    call(&server.address, "transfer", &alpha, &json!({"nickname": "beta", "count": 50}));
    let held = home.run(&["admin", "restore", &target, "--force"]);
    assert!(held.code == 1 && held.stderr.contains("held by another process"), "{}", held.stderr);
    server.stop();
    let refused = home.run(&["admin", "restore", &target]);
    assert!(refused.code == 6 && refused.stderr.contains("--force"), "{}", refused.stderr);
    let restored = home.json(&["admin", "restore", &target, "--force", "--json"]);
    let aside = restored["movedTo"].as_str().unwrap().to_owned();
    assert!(
        Path::new(&aside).join("arena.db").exists() && Path::new(&aside).join("avatars").join(IMAGE).exists()
    );
    assert_eq!(fs::read(home.data().join("avatars").join(IMAGE)).unwrap(), b"an image");
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{}", doctor.stdout);
    let server = home.serve(&[]);
    let status = call(&server.address, "get_arena_status", &alpha, &json!({})).json();
    assert_eq!(status["balance"]["total"], 99, "as it was when the copy was made: {status}");
    let settled = get(&format!("http://{}/duels/v1/settled", server.address)).json();
    assert_eq!(settled["duels"].as_array().unwrap().len(), 1);
    server.stop();
    // Another, empty directory takes it without force.
    let other = Home::new();
    let restored = other.run(&["admin", "restore", &target]);
    assert_eq!(restored.code, 0, "{}", restored.stderr);
    assert!(names_in(other.path()).iter().all(|name| !name.contains("restore")), "nothing temporary stays");
}

#[test]
fn a_file_is_not_replaced_and_its_rights_are_the_owners() {
    use std::os::unix::fs::PermissionsExt;
    let (home, _) = lived_in();
    let target = file(&home, "copy.arena");
    assert_eq!(home.run(&["admin", "backup", &target]).code, 0);
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    let again = home.run(&["admin", "backup", &target]);
    assert!(again.code == 6 && again.stderr.contains("--force"), "{}", again.stderr);
    assert_eq!(home.run(&["admin", "backup", &target, "--force"]).code, 0);
    for (target, word) in [("/nonexistent/x", "cannot write in"), ("/proc/x", "cannot write in")] {
        let told = home.run(&["admin", "backup", target]);
        assert!(told.code == 1 && told.stderr.contains(word), "{}", told.stderr);
    }
    let empty = Home::new();
    let told = empty.run(&["admin", "backup", &file(&empty, "x")]);
    assert!(told.code == 6 && told.stderr.contains("there is no arena.db"), "{}", told.stderr);
    let remote = home.run(&["admin", "backup", &file(&home, "y"), "--database-url", "postgres://secret@h/d"]);
    assert!(remote.code == 6 && remote.stderr.contains("pg_dump"), "{}", remote.stderr);
    assert!(!remote.stderr.contains("secret"), "{}", remote.stderr);
}

#[test]
fn what_is_not_a_whole_backup_changes_nothing() {
    let (home, _) = lived_in();
    let target = file(&home, "copy.arena");
    assert_eq!(home.run(&["admin", "backup", &target]).code, 0);
    let whole = fs::read(&target).unwrap();
    let before = fs::read(home.data().join("arena.db")).unwrap();
    let restore = |bytes: &[u8]| -> Ran {
        let damaged = file(&home, "damaged");
        fs::write(&damaged, bytes).unwrap();
        home.run(&["admin", "restore", &damaged, "--force"])
    };
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let manifest = String::from_utf8_lossy(&whole[512..1024]).into_owned();
    let newer = String::from_utf8_lossy(&whole[..1024]).replacen("\"format\": 1", "\"format\": 2", 1);
    assert_ne!(newer.as_bytes(), &whole[..1024], "{manifest}");
    let newer = [newer.as_bytes(), &whole[1024..]].concat();
    let mut climbing = tar_of("../../outside", b"x");
    climbing.extend(&whole);
    for (bytes, words) in [
        (&b""[..], "it is empty"),
        (b"not an archive", "damaged or cut off"),
        (&whole[..whole.len() / 2], "damaged or cut off"),
        (&whole[..700], "not a whole backup"),
        (&flipped, "checksum"),
        (&newer, "does not know"),
        (&climbing, "does not begin with a manifest"),
        (&[&whole[..whole.len() - 1024], &tar_of("avatars/../../outside", b"x")].concat(), "no backup has"),
        (&[&whole[..whole.len() - 1024], &tar_of("arena.toml", b"x")].concat(), "no backup has"),
    ] {
        let told = restore(bytes);
        assert_eq!(told.code, 6, "{words}: {}", told.stderr);
        assert!(told.stderr.contains(words) && told.stderr.contains("hint: "), "{words}: {}", told.stderr);
    }
    assert_eq!(fs::read(home.data().join("arena.db")).unwrap(), before);
    assert!(!home.path().parent().unwrap().join("outside").exists() && !home.path().join("outside").exists());
    assert!(!home.data().join("restore-in-progress").exists());
    let missing = home.run(&["admin", "restore", &file(&home, "nowhere"), "--force"]);
    assert!(missing.code == 1 && missing.stderr.contains("cannot read"), "{}", missing.stderr);
}

/// An archive of one file, without its end.
fn tar_of(name: &str, content: &[u8]) -> Vec<u8> {
    let mut header = [0u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..107].copy_from_slice(b"0000600");
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[136..147].copy_from_slice(b"00000000000");
    header[156] = b'0';
    header[257..263].copy_from_slice(b"ustar\0");
    header[263..265].copy_from_slice(b"00");
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut out = header.to_vec();
    out.extend(content);
    out.resize(1024, 0);
    out
}

#[test]
fn an_interrupted_restore_is_told_and_can_be_repeated() {
    let (home, alpha) = lived_in();
    let target = file(&home, "copy.arena");
    assert_eq!(home.run(&["admin", "backup", &target]).code, 0);
    // As a crash between the two halves leaves it: the old data is aside, the new is not there yet.
    let aside = home.data().join("before-restore-1");
    fs::create_dir(&aside).unwrap();
    fs::rename(home.data().join("arena.db"), aside.join("arena.db")).unwrap();
    fs::write(home.data().join("restore-in-progress"), "").unwrap();
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["admin", "user", "list"], &["doctor"]] {
        let told = home.run(command);
        assert_ne!(told.code, 0, "{command:?}");
        let words = format!("{}{}", told.stdout, told.stderr);
        assert!(words.contains("was interrupted") && words.contains("admin restore"), "{command:?}: {words}");
    }
    assert!(!home.data().join("arena.db").exists(), "nobody began anew");
    assert_eq!(home.run(&["admin", "restore", &target]).code, 0);
    let server = home.serve(&[]);
    assert_eq!(call(&server.address, "whoami", &alpha, &json!({})).status, 200);
    server.stop();
}

#[test]
fn an_upgrade_keeps_a_copy_and_a_newer_schema_is_refused() {
    let (home, alpha) = lived_in();
    let database = home.data().join("arena.db");
    let sql = |text: &str| {
        let script = format!(
            "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript({text:?}); c.commit()"
        );
        let done =
            std::process::Command::new("python3").args(["-c", &script]).arg(&database).status().unwrap();
        assert!(done.success());
    };
    // As the version before the avatars left it.
    sql("DROP TABLE avatar_object; DELETE FROM migration WHERE product = 'duels' AND number = 3;");
    let server = home.serve(&[]);
    let status = call(&server.address, "get_arena_status", &alpha, &json!({})).json();
    assert_eq!(status["balance"]["total"], 99, "{status}");
    server.stop();
    assert_eq!(names_in(&home.data().join("backups")).len(), 1);
    assert_eq!(home.run(&["doctor"]).code, 0);
    sql("INSERT INTO migration (product, number, applied_ms) VALUES ('duels', 99, 0);");
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["admin", "user", "list"]] {
        let told = home.run(command);
        assert!(told.code == 1 && told.stderr.contains("written by a newer Arena"), "{}", told.stderr);
        assert!(told.stderr.contains("backup") && !told.stderr.contains("panicked"), "{}", told.stderr);
    }
    let target = file(&home, "newer.arena");
    assert_eq!(home.run(&["admin", "backup", &target]).code, 0, "a backup needs no version");
    let other = Home::new();
    let told = other.run(&["admin", "restore", &target]);
    assert!(told.code == 1 && told.stderr.contains("newer Arena"), "{}", told.stderr);
    assert!(!other.data().join("arena.db").exists());
}

#[test]
fn json_tells_what_was_done() {
    let (home, _) = lived_in();
    let target = file(&home, "copy.arena");
    let made = home.json(&["admin", "backup", &target, "--json"]);
    let keys: Vec<&str> = made.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["file", "format", "version", "createdAt", "databaseBytes", "databaseSha256", "avatars"]
    );
    assert_eq!(made["file"], Value::String(target));
}

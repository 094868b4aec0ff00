//! Backups: made beside a running server, checked before anything changes, and nothing is ever deleted.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    faults::disk_full::SmallDisk,
    http::{call, get},
    process::{Home, Ran, names_in, sql},
};

const IMAGE: &str = "0123456789abcdef0123456789abcdef.webp";

fn file(home: &Home, name: &str) -> String {
    home.path().join(name).display().to_string()
}

/// A home with two people, a settled duel and an image, and the key of one of them.
pub(crate) fn lived_in() -> (Home, String) {
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
    for (target, word) in [("/nonexistent/x", "no such file or directory"), ("/proc/x", "cannot write in")] {
        let told = home.run(&["admin", "backup", target]);
        assert!(told.code == 1 && told.stderr.contains(word), "{}", told.stderr);
    }
    let empty = Home::new();
    let told = empty.run(&["admin", "backup", &file(&empty, "x")]);
    assert!(told.code == 6 && told.stderr.contains("there is no arena.db"), "{}", told.stderr);
    for (command, words) in [("backup", "pg_dump --format=custom"), ("restore", "pg_restore --clean")] {
        let url = "postgres://ann:secret@h:5/d";
        let remote = home.run(&["admin", command, &target, "--force", "--database-url", url]);
        assert!(remote.code == 6 && remote.stderr.contains(words), "{}", remote.stderr);
        assert!(remote.stderr.contains("'postgres://ann@h:5/d'"), "{}", remote.stderr);
        assert!(!remote.stderr.contains("secret"), "{}", remote.stderr);
    }
    // What a killed backup left is swept, what a running one makes is not.
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let left = [ended.id(), std::process::id()].map(|pid| home.path().join(format!(".arena-backup-{pid}-x")));
    for left in &left {
        fs::create_dir(left).unwrap();
    }
    assert_eq!(home.run(&["admin", "backup", &target, "--force"]).code, 0);
    assert_eq!(left.each_ref().map(|left| left.exists()), [false, true]);
    fs::remove_dir(&left[1]).unwrap();
    let (link, pipe) = (file(&home, "link"), file(&home, "pipe"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for other in [&link, &pipe] {
        let told = home.run(&["admin", "backup", other, "--force"]);
        assert!(told.code == 6 && told.stderr.contains("no regular file"), "{}", told.stderr);
        assert!(!fs::symlink_metadata(other).unwrap().is_file(), "{other} is what it was");
    }
    let directory = home.run(&["admin", "backup", &home.path().display().to_string(), "--force"]);
    assert!(directory.code == 6 && directory.stderr.contains("is a directory"), "{}", directory.stderr);
    assert!(names_in(home.path()).iter().all(|name| !name.starts_with('.')), "nothing temporary stays");
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
    let mut miscounted = whole.clone();
    let people = whole.windows(11).position(|window| window == b"\"people\": 2").unwrap();
    miscounted[people + 10] = b'3';
    let image = whole.windows(8).rposition(|window| window == b"an image").unwrap();
    let mut repainted = whole.clone();
    repainted[image] = b'A';
    let blocks = whole.len() - 1024;
    // The first entry is the manifest: a head, and as many blocks as its length takes.
    let length = std::str::from_utf8(&whole[124..135]).unwrap();
    let manifest_end = 512 + usize::from_str_radix(length, 8).unwrap().next_multiple_of(512);
    let link = |kind: u8| {
        let mut entry = tar_of("arena.db", b"/etc/passwd");
        entry[156] = kind;
        entry[157..168].copy_from_slice(b"/etc/passwd");
        sum(&mut entry);
        [&whole[..manifest_end], &entry].concat()
    };
    let mut climbing = tar_of("../../outside", b"x");
    climbing.extend(&whole);
    for (bytes, words) in [
        (&b""[..], "it is empty"),
        (b"not an archive", "damaged or cut off"),
        (&whole[..whole.len() / 2], "damaged or cut off"),
        (&whole[..700], "not a whole backup"),
        (&flipped, "checksum"),
        (&newer, "does not know"),
        (&miscounted, "other numbers than its manifest says"),
        (&repainted, "avatars are missing or damaged"),
        (&whole[..image - 512], "avatars are missing or damaged"),
        (&link(b'1'), "not a file"),
        (&link(b'2'), "not a file"),
        (&link(b'5'), "not a file"),
        (&[&whole[..blocks], &tar_of("arena.db", b"x")].concat(), "a file twice"),
        (&b"SQLite format 3\0 and then nothing of the kind"[..], "damaged"),
        (&climbing, "does not begin with a manifest"),
        (&[&whole[..whole.len() - 1024], &tar_of("avatars/../../outside", b"x")].concat(), "no backup has"),
        (&[&whole[..whole.len() - 1024], &tar_of("arena.toml", b"x")].concat(), "no backup has"),
    ] {
        let told = restore(bytes);
        assert_eq!(told.code, 6, "{words}: {}", told.stderr);
        assert!(told.stderr.contains(words) && told.stderr.contains("hint: "), "{words}: {}", told.stderr);
        assert!(!told.stderr.contains("staging"), "{}", told.stderr);
    }
    assert_eq!(names_in(&home.data()), ["arena.db", "arena.lock", "avatars"]);
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
    let mut out = header.to_vec();
    out.extend(content);
    out.resize(1024, 0);
    sum(&mut out);
    out
}

/// Writes the sum of an entry's head.
fn sum(entry: &mut [u8]) {
    entry[148..156].copy_from_slice(b"        ");
    let sum: u32 = entry[..512].iter().map(|byte| u32::from(*byte)).sum();
    entry[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
}

#[test]
fn json_tells_what_was_done() {
    let (home, _) = lived_in();
    let target = file(&home, "copy.arena");
    let made = home.json(&["admin", "backup", &target, "--json"]);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let manifest = [
        "file",
        "format",
        "version",
        "createdAt",
        "schemas",
        "counts",
        "databaseBytes",
        "databaseSha256",
        "avatars",
        "avatarsSha256",
    ];
    assert_eq!(keys(&made), manifest);
    assert_eq!(made["file"], Value::String(target.clone()));
    let counts = json!({
        "people": 2, "settledDuels": 1, "transfers": 8, "issuedPoints": 200, "heldPoints": 198, "burnedPoints": 2
    });
    assert_eq!(made["counts"], counts);
    for (schema, steps) in [
        ("store", store::SCHEMA.steps.len()),
        ("identity", identity::SCHEMA.steps.len()),
        ("duels", duels::SCHEMA.steps.len()),
    ] {
        assert_eq!(made["schemas"][schema].as_u64(), u64::try_from(steps).ok(), "{schema}");
    }
    let restored = home.json(&["admin", "restore", &target, "--force", "--json"]);
    assert_eq!(keys(&restored), [&manifest[..], &["restored", "violations", "movedTo"]].concat());
    assert_eq!((&restored["restored"], &restored["violations"]), (&counts, &json!([])));
    let told = home.run(&["admin", "restore", &target, "--force"]);
    assert!(told.stdout.contains("issued 200 = held 198 + burned 2"), "{}", told.stdout);
    assert!(told.stdout.contains("The ledger adds up."), "{}", told.stdout);
}

#[test]
fn avatars_that_are_kept_elsewhere_come_back_there() {
    let (home, _) = lived_in();
    let elsewhere = home.path().join("pictures");
    fs::create_dir(&elsewhere).unwrap();
    let other = "f".repeat(32) + ".webp";
    fs::write(elsewhere.join(&other), b"another").unwrap();
    fs::write(elsewhere.join("notes.txt"), b"no image").unwrap();
    let with = |home: &Home, directory: &Path, arguments: &[&str]| {
        let ran = Ran::of(home.command(arguments).env("ARENA_AVATARS__DIR", directory));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    };
    let target = file(&home, "copy.arena");
    with(&home, &elsewhere, &["admin", "backup", &target]);
    let (new, there) = (Home::new(), home.path().join("restored"));
    with(&new, &there, &["admin", "restore", &target]);
    assert_eq!(names_in(&there), [other]);
    assert!(!new.data().join("avatars").exists());
}

#[test]
fn a_database_that_somebody_changed_is_not_restored() {
    for (change, words) in [
        (
            "CREATE TRIGGER more AFTER INSERT ON transfer BEGIN DELETE FROM transfer; END",
            "has a trigger \"more\" that no Arena made",
        ),
        ("DROP INDEX avatar_live", "lacks the index \"avatar_live\""),
        ("CREATE VIEW seen AS SELECT id FROM person", "has a view \"seen\" that no Arena made"),
        ("ALTER TABLE agent ADD COLUMN secret TEXT", "has another table \"agent\""),
    ] {
        let (home, _) = lived_in();
        let changed = file(&home, "changed.db");
        fs::copy(home.data().join("arena.db"), &changed).unwrap();
        sql(Path::new(&changed), change);
        let before = fs::read(home.data().join("arena.db")).unwrap();
        let told = home.run(&["admin", "restore", &changed, "--force"]);
        assert!(told.code == 6 && told.stderr.contains(words), "{words}: {}", told.stderr);
        assert_eq!(fs::read(home.data().join("arena.db")).unwrap(), before);
    }
}

#[test]
fn a_backup_tells_of_images_that_are_shown_and_not_there() {
    let (home, _) = lived_in();
    let noted = |name: &str| {
        format!(
            "INSERT INTO avatar_object (name, agent, state, since_ms) VALUES ('{name}', '{name}', 'LIVE', 0)"
        )
    };
    let there = IMAGE.strip_suffix(".webp").unwrap();
    sql(&home.data().join("arena.db"), &noted(there));
    let quiet = home.run(&["admin", "backup", &file(&home, "one.arena")]);
    assert!(quiet.code == 0 && !quiet.stderr.contains("images"), "{}", quiet.stderr);
    sql(&home.data().join("arena.db"), &noted(&"e".repeat(32)));
    let told = home.run(&["admin", "backup", &file(&home, "two.arena")]);
    assert!(
        told.code == 0 && told.stderr.contains("1 images that agents show are not in"),
        "{}",
        told.stderr
    );
}

#[test]
fn a_ledger_that_does_not_add_up_is_told_of_and_restored_all_the_same() {
    let (home, _) = lived_in();
    sql(
        &home.data().join("arena.db"),
        "UPDATE balance SET available = available + 1 WHERE person = (SELECT id FROM person WHERE nickname = 'beta')",
    );
    let target = file(&home, "copy.arena");
    assert_eq!(home.run(&["admin", "backup", &target]).code, 0);
    let other = Home::new();
    let told = other.run(&["admin", "restore", &target]);
    assert_eq!(told.code, 1, "{}", told.stderr);
    assert!(told.stderr.contains("does not add up") && told.stderr.contains("hint: "), "{}", told.stderr);
    assert!(!told.stdout.contains("The ledger adds up"), "{}", told.stdout);
    assert_eq!(other.json(&["admin", "user", "list", "--json"]).as_array().unwrap().len(), 2);
}

#[test]
fn a_full_disk_leaves_no_part_of_a_backup_and_changes_nothing_at_a_restore() {
    let test = "backup::a_full_disk_leaves_no_part_of_a_backup_and_changes_nothing_at_a_restore";
    let Some(disk) = SmallDisk::mount("size=128k") else {
        return testkit::skip::skip(test, "this user may not mount a small file system; run it as root");
    };
    let (home, _) = lived_in();
    let on_disk = disk.path().join("copy.arena").display().to_string();
    let told = home.run(&["admin", "backup", &on_disk]);
    assert_eq!(told.code, 1, "{}", told.stderr);
    assert!(told.stderr.contains("full") && told.stderr.contains("make room"), "{}", told.stderr);
    assert_eq!(names_in(disk.path()), Vec::<String>::new());
    let target = file(&home, "copy.arena");
    assert_eq!(home.run(&["admin", "backup", &target]).code, 0);
    let data = disk.path().join("data");
    let told = Ran::of(home.command(&["admin", "restore", &target]).env("ARENA_DATA_DIR", &data));
    assert_eq!(told.code, 1, "{}", told.stderr);
    assert!(told.stderr.contains("no room left") && told.stderr.contains("make room"), "{}", told.stderr);
    assert_eq!(names_in(&data), ["arena.lock"]);
}

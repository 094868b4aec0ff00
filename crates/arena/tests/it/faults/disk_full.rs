//! A full disk under the program: changes get 503 with a time to wait, reads go on, and it passes
//! without a restart when there is room again.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    process::Command,
};

use serde_json::json;
use tempfile::TempDir;

use super::{load, wire::Wire};
use crate::process::{Home, PATIENCE, Ran, Server};

/// Room for the database and its log, and little more.
const DISK: &str = "size=4m";
const MESSAGE_CHARS: usize = 500;
const OPENING_POINTS: i64 = 1_000_000;
const FILLED: u32 = 3;
/// More gifts than any log has room for.
const NUMBER_MAX: i64 = 10_000;

/// A small file system of the test's own, unmounted with it.
pub(crate) struct SmallDisk {
    at: TempDir,
}

impl SmallDisk {
    /// With these options of the file system.
    pub(crate) fn mount(options: &str) -> Option<Self> {
        let at = tempfile::tempdir().unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at.path()).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self { at })
    }

    /// Leaves no byte free.
    fn fill(&self) {
        let mut ballast = File::options().create(true).append(true).open(self.ballast()).unwrap();
        for chunk in [4096, 1] {
            while ballast.write_all(&vec![1; chunk]).is_ok() {}
        }
    }

    fn free(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }

    fn ballast(&self) -> std::path::PathBuf {
        self.path().join("ballast")
    }

    pub(crate) fn path(&self) -> &Path {
        self.at.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The server on it may be ending just now; a lazy unmount waits for that.
        drop(Command::new("umount").arg("--lazy").arg(self.path()).status());
    }
}

#[test]
fn changes_wait_for_room_and_reads_do_not() {
    let test = "faults::disk_full::changes_wait_for_room_and_reads_do_not";
    let Some(disk) = SmallDisk::mount(DISK) else {
        testkit::skip::skip(test, "this user may not mount a small file system; run it as root");
        return;
    };
    let home = Home::new();
    let with_data = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command
            .env("ARENA_DATA_DIR", disk.path().join("data"))
            .env("ARENA_DUELS__OPENING_POINTS", OPENING_POINTS.to_string())
            .env("ARENA_METRICS__LISTEN", "off");
        command
    };
    let keys = ["alpha", "bravo"].map(|nickname| {
        let ran = Ran::of(&mut with_data(&["admin", "user", "create", nickname, "--json"]));
        let made: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        made["apiKey"].as_str().unwrap().to_owned()
    });
    // A fast clock, so that no budget is spent.
    let server =
        Server::start(&mut with_data(&["serve", "--listen", "127.0.0.1:0", "--clock-speed", "1000"]));
    let mut wire = Wire::new(&server.address, PATIENCE);
    let give = |wire: &mut Wire, number: i64| {
        let note = "x".repeat(MESSAGE_CHARS);
        let body = json!({"nickname": "bravo", "count": 1, "message": note}).to_string();
        wire.call("transfer", &keys[0], Some(&format!("gift-{number}")), &body).unwrap()
    };
    let (mut number, mut refused) = (0, 0);
    for _ in 0..FILLED {
        let first_refused = loop {
            // An idle server gives back what its log took, so the disk is filled again.
            disk.fill();
            number += 1;
            let reply = give(&mut wire, number);
            if reply.status == 503 {
                assert!(reply.retry_after.is_some(), "{}", reply.body);
                break number;
            }
            assert_eq!(reply.status, 200, "{}", reply.body);
            assert!(number < NUMBER_MAX, "the disk does not fill up");
        };
        for _ in 0..10 {
            number += 1;
            disk.fill();
            let reply = give(&mut wire, number);
            assert!(
                reply.status == 200 || reply.status == 503 && reply.retry_after.is_some(),
                "{}",
                reply.body
            );
            refused += u32::from(reply.status == 503);
            for tool in ["whoami", "get_transfer_history"] {
                let read = wire.call(tool, &keys[1], None, "{}").unwrap();
                assert_eq!(read.status, 200, "{tool}: {}", read.body);
            }
            assert_eq!(wire.get("/healthz").unwrap().status, 200);
        }
        load::until("readiness tells that nothing can be written", || {
            disk.fill();
            wire.get("/readyz").unwrap().status == 503
        });
        disk.free();
        load::until("readiness tells that there is room", || wire.get("/readyz").unwrap().status == 200);
        // Everything of this round again with its key: what was done is not done twice, the rest is
        // done now, by the same process.
        for repeated in first_refused..=number {
            load::until("there is room", || give(&mut wire, repeated).status == 200);
        }
    }
    let balance = |wire: &mut Wire, agent: usize| {
        wire.call("get_arena_status", &keys[agent], None, "{}").unwrap().json()["balance"]["available"]
            .as_i64()
            .unwrap()
    };
    assert_eq!(
        (balance(&mut wire, 0), balance(&mut wire, 1)),
        (OPENING_POINTS - number, OPENING_POINTS + number),
        "{number} gifts, each once"
    );
    for tool in ["whoami", "get_transfer_history"] {
        assert_eq!(wire.call(tool, &keys[0], None, "{}").unwrap().status, 200);
    }
    let doctor = Ran::of(&mut with_data(&["doctor"]));
    // So small a disk is a complaint of its own; nothing else may be one.
    let complaints: Vec<_> = doctor.stdout.lines().filter(|line| line.contains("FAILS")).collect();
    assert!(doctor.stdout.contains("holds  ledger"), "{}", doctor.stdout);
    assert!(complaints.iter().all(|line| line.contains("FAILS  disk ")), "{complaints:?}");
    assert!(refused > 0);
    println!("disk full {FILLED} times: {refused} more changes refused with 503, {number} done once each");
    drop(wire);
    server.stop();
}

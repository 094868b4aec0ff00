//! A full disk: changes are refused, reads go on, and it passes by itself.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use kernel::{Kind, tx::Verdict};
use store::{Options, Place, Store};

use crate::commands::{COUNT, NOTE, SCHEMA, add, command, done, value};

/// A small file system of the test's own, unmounted with it.
struct SmallDisk {
    at: tempfile::TempDir,
}

impl SmallDisk {
    fn mount() -> Option<Self> {
        let at = tempfile::tempdir().unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"]).arg(at.path()).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self { at })
    }

    fn path(&self) -> &Path {
        self.at.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(self.at.path()).status());
    }
}

#[test]
fn a_full_disk_refuses_changes_only_while_it_is_full() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("SKIPPED full_disk: this user may not mount a small file system");
        return;
    };
    let ballast: PathBuf = disk.path().join("ballast");
    fs::write(&ballast, vec![1; 1 << 20]).unwrap();
    let mut options = Options::new(Place::Directory(disk.path().join("data")));
    options.schemas.push(SCHEMA);
    let store = Store::open(options).unwrap();
    done(store.write_blocking(add("before", 1)));

    let big = |number: usize| {
        command(move |tx| {
            let body = vec![u8::try_from(number % 256).unwrap(); 60_000];
            tx.exec(&NOTE, &[format!("big{number}").into(), body.into(), 1.into()])?;
            Ok(Verdict::Done(()))
        })
    };
    let (mut written, mut refused) = (0, 0);
    for number in 0..100 {
        match store.write_blocking(big(number)) {
            Ok(_) => written += 1,
            Err(fault) => {
                assert_eq!(fault.kind, Kind::Unavailable, "{:?}", fault.context());
                refused += 1;
            }
        }
    }
    assert!(written > 0 && refused > 0, "{written} written, {refused} refused");
    // Several at once share a transaction that goes: none of them is told that it is done.
    let results: Vec<_> = std::thread::scope(|scope| {
        let writers: Vec<_> = (200..216)
            .map(|number| {
                let store = &store;
                scope.spawn(move || store.write_blocking(big(number)))
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    written += results.iter().filter(|result| result.is_ok()).count();
    let count = || store.read_blocking(|tx| tx.row(&COUNT, &["big%".into()])?.unwrap().i64(0)).unwrap();
    assert_eq!(count(), i64::try_from(written).unwrap(), "exactly what was told done is there");
    assert_eq!(store.read_blocking(|tx| value(tx, "before")), Ok(1));

    fs::remove_file(&ballast).unwrap();
    done(store.write_blocking(big(300)));
    done(store.write_blocking(add("before", 1)));
    assert_eq!(count(), i64::try_from(written + 1).unwrap());
    assert_eq!(store.read_blocking(|tx| value(tx, "before")), Ok(2));
    store.close();
}

//! A file called `arena.db` that is no database of Arena is told of and left as it is.

use std::{fs, path::Path};

use store::{OpenError, Options, Place, Store};

fn open(directory: &Path) -> Result<Store, OpenError> {
    let mut options = Options::new(Place::Directory(directory.to_owned()));
    options.readers = 1;
    Store::open(options)
}

#[test]
fn empty_foreign_and_garbage_files_are_refused_and_kept() {
    let foreign = tempfile::tempdir().unwrap();
    let foreign = foreign.path().join("notes.db");
    let conn = rusqlite::Connection::open(&foreign).unwrap();
    conn.execute_batch("CREATE TABLE note (text TEXT) STRICT; INSERT INTO note VALUES ('mine');").unwrap();
    drop(conn);
    for (content, what) in [
        (Vec::new(), "is empty"),
        (b"SQLite".to_vec(), "is not a SQLite database"),
        (vec![0x55; 8192], "is not a SQLite database"),
        (fs::read(&foreign).unwrap(), "is a database of another program"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(store::FILE_NAME);
        fs::write(&path, &content).unwrap();
        for _ in 0..2 {
            let Err(error) = open(home.path()) else { panic!("a file that {what} was opened") };
            let words = error.to_string();
            assert!(words.contains(what) && words.contains(&path.display().to_string()), "{words}");
            assert!(words.contains("; move it away") && words.contains("admin restore --force"), "{words}");
        }
        assert_eq!(fs::read(&path).unwrap(), content, "{what}");
    }
}

#[test]
fn a_first_opening_that_was_cut_off_is_repeated() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("arena.new"), b"half a dra").unwrap();
    open(home.path()).unwrap().close();
    assert!(!home.path().join("arena.new").exists());
    open(home.path()).unwrap().close();
}

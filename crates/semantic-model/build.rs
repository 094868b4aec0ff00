//! Checks the two original files and packs them into the one that the binary carries. Nothing is
//! downloaded.
#![expect(clippy::print_stderr, reason = "a build script speaks to Cargo")]

use std::{env, fs, path::Path, process::ExitCode};

use semantic::model::{ORIGINS, pack};

const PLACE: &str = "model";
const PACKED: &str = "model.bin";

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    for origin in ORIGINS {
        let path = Path::new(PLACE).join(origin.name);
        println!("cargo::rerun-if-changed={}", path.display());
        files.push(fs::read(&path).map_err(|error| restore(origin.name, &error.to_string()))?);
    }
    let packed = pack(&files[0], &files[1]).map_err(|error| restore(error.file, &error.problem))?;
    let out = env::var_os("OUT_DIR").ok_or("Cargo names no OUT_DIR: build with Cargo")?;
    let to = Path::new(&out).join(PACKED);
    fs::write(&to, packed).map_err(|error| format!("cannot write {}: {error}", to.display()))
}

fn restore(file: &str, problem: &str) -> String {
    format!(
        "crates/semantic-model/{PLACE}/{file} is damaged or missing: {problem}. \
         Restore it with `git checkout -- crates/semantic-model/{PLACE}/{file}`."
    )
}

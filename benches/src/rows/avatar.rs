//! Row `avatar`: the process that makes a picture, on the largest pictures that are taken: how long it
//! takes, and the most memory that it holds.

use std::{
    io::{Cursor, Write},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

use super::{Name, Row};
use crate::{
    Effort,
    harness::{Outcome, process, progress::Progress, rounds::Rounds},
};

const SIDE: u32 = 4096;
const SECONDS_MAX: f64 = 1.5;
const MIB_MAX: f64 = 200.0;
/// A picture of the largest size, which no encoder here can make.
const AVIF: &[u8] = include_bytes!("../../data/large.avif");
/// How often the process is looked at.
const LOOK: Duration = Duration::from_millis(1);

pub(crate) fn measure(effort: Effort) -> Outcome<Vec<Row>> {
    let turns = if effort == Effort::Quick { 1 } else { 7 };
    let progress = Progress::new("avatar");
    let arena = process::sibling("arena")?;
    progress.say(&format!("making pictures of {SIDE} × {SIDE}"));
    let smooth: DynamicImage = RgbImage::from_fn(SIDE, SIDE, |x, y| {
        let shade = |at: u32| u8::try_from(at * 255 / SIDE).unwrap_or(u8::MAX);
        Rgb([shade(x), shade(y), shade(u32::midpoint(x, y))])
    })
    .into();
    let encoded = |format| -> Outcome<Vec<u8>> {
        let mut out = Cursor::new(Vec::new());
        smooth.write_to(&mut out, format)?;
        Ok(out.into_inner())
    };
    let files = [
        ("PNG", encoded(ImageFormat::Png)?),
        ("JPEG", encoded(ImageFormat::Jpeg)?),
        ("WebP", encoded(ImageFormat::WebP)?),
        ("AVIF", AVIF.to_vec()),
    ];
    let mut rows = Vec::new();
    for (format, file) in files {
        progress.say(&format!("{format}, {} KiB", file.len() / 1024));
        let (mut seconds, mut mib) = (Rounds::default(), Rounds::default());
        for _ in 0..turns {
            let (took, most) = make(&arena, &file)?;
            seconds.add(took);
            mib.add(most);
        }
        let row = |what: String, rounds: &Rounds, value: String| {
            Row::reported(Name::Avatar, &what, rounds.median(), value, rounds.spread(2))
        };
        rows.push(
            row(format!("4096 × 4096 {format}"), &seconds, format!("{:.2} s", seconds.median()))
                .at_most(SECONDS_MAX, "1.5 s"),
        );
        rows.push(
            row(format!("memory, {format}"), &mib, format!("{:.0} MiB", mib.median()))
                .at_most(MIB_MAX, "200 MiB"),
        );
    }
    Ok(rows)
}

/// Seconds, and MiB resident at most.
fn make(arena: &std::path::Path, file: &[u8]) -> Outcome<(f64, f64)> {
    let begun = Instant::now();
    let mut child =
        Command::new(arena).arg("picture").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let watching = std::thread::spawn(move || {
        let mut most = 0.0_f64;
        // The file is gone with the process, and the line with its memory.
        while let Some(kib) = std::fs::read_to_string(&status).ok().and_then(|text| {
            text.lines().find_map(|line| {
                line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok()
            })
        }) {
            most = most.max(kib);
            std::thread::sleep(LOOK);
        }
        most
    });
    child.stdin.take().ok_or("no input")?.write_all(file)?;
    let made = child.wait_with_output()?;
    let seconds = begun.elapsed().as_secs_f64();
    if !made.status.success() || !made.stdout.starts_with(b"RIFF") {
        return Err(format!("no picture was made: {}", made.status).into());
    }
    let kib = watching.join().map_err(|_| "the watching thread panicked")?;
    Ok((seconds, kib / 1024.0))
}

//! The facts about the machine that a reader needs to place the figures.

use kernel::{
    Moment,
    time::{Clock, SystemClock},
};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_mib: u64,
    pub(crate) kernel: String,
    /// How many processes wanted a core when the run began; above the cores the figures are noisy.
    pub(crate) load: String,
    pub(crate) date: String,
    pub(crate) sqlite: &'static str,
}

impl Machine {
    pub(crate) fn look() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
        };
        let now = Moment::from_millis(SystemClock.real_ms()).to_string();
        let kib = field(&read("/proc/meminfo"), "MemTotal")
            .and_then(|text| text.split(' ').next().and_then(|number| number.parse::<u64>().ok()));
        Self {
            cpu: field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown CPU".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_mib: kib.unwrap_or(0) / 1024,
            kernel: format!("{} {}", std::env::consts::OS, read("/proc/sys/kernel/osrelease").trim()),
            load: read("/proc/loadavg").split(' ').next().unwrap_or("unknown").to_owned(),
            date: now.split('T').next().unwrap_or_default().to_owned(),
            sqlite: rusqlite::version(),
        }
    }
}

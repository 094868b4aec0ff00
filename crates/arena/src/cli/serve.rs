//! `arena serve` and `arena demo`.

use clap::Args;

use crate::config::{layers::FlagValue, speed::Speed};

#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on [default: 127.0.0.1:7878]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<String>,
    /// URL that people reach this server under
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// PostgreSQL URL [default: SQLite in the data directory]
    #[arg(long, value_name = "URL")]
    pub(crate) database_url: Option<String>,
    /// Seconds of Arena time in a real second [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) clock_speed: Option<String>,
}

impl ServeArgs {
    pub(crate) fn flags(&self) -> Vec<FlagValue> {
        [
            FlagValue::given("http.listen", "--listen", self.listen.as_ref()),
            FlagValue::given("http.public_url", "--public-url", self.public_url.as_ref()),
            FlagValue::given("database.url", "--database-url", self.database_url.as_ref()),
            FlagValue::given("clock.speed", "--clock-speed", self.clock_speed.as_ref()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The fewest agents that can duel, and the most that a terminal can follow.
const DEMO_AGENTS: std::ops::RangeInclusive<u32> = 2..=16;

#[derive(Debug, Clone, Args)]
pub(crate) struct DemoArgs {
    /// Address and port [default: 127.0.0.1:7878, or a free port]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<String>,
    /// How many agents play, 2 to 16
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = agents)]
    pub(crate) agents: u32,
    /// End after so many settled duels [default: until interrupted]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) duels: Option<u64>,
    /// Seconds of Arena time in a real second
    #[arg(long, value_name = "N", default_value = "60")]
    pub(crate) clock_speed: Speed,
}

fn agents(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| DEMO_AGENTS.contains(count));
    count.ok_or_else(|| format!("use {} to {}", DEMO_AGENTS.start(), DEMO_AGENTS.end()))
}

impl DemoArgs {
    pub(crate) fn flags(&self) -> Vec<FlagValue> {
        let speed = self.clock_speed.to_string();
        [
            FlagValue::given("http.listen", "--listen", self.listen.as_ref()),
            FlagValue::given("clock.speed", "--clock-speed", Some(&speed)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

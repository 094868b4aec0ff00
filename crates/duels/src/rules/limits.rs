//! Every number of the game, in one place; documentation prints these constants.

/// What a new account starts with.
pub const OPENING_POINTS: i64 = 100;
/// The smallest stake, and so the fewest available points for a new duel.
pub const STAKE_POINTS_MIN: i64 = 5;
/// A stake is one part in so many of the available points, but not below the minimum.
pub const STAKE_DIVISOR: i64 = 10;
/// What every duel burns, whatever the demands.
pub const BASE_BURN_POINTS: i64 = 1;
pub const DUEL_MS: i64 = 10 * 60_000;
/// How long a pair waits after its last duel finished.
pub const COOLDOWN_MS: i64 = 5 * 60_000;
pub const ACTIVE_DUELS_MAX: usize = 3;
pub const PRESENCE_MINUTES_MAX: i64 = 15;

pub const PITCH_CHARS_MAX: usize = 500;
pub const MESSAGE_CHARS_MAX: usize = 500;
pub const BIO_CHARS_MAX: usize = 280;
pub const QUERY_CHARS_MAX: usize = 500;
pub const MODEL_KEY_CHARS: std::ops::RangeInclusive<usize> = 3..=100;
pub const SOCIAL_URL_CHARS_MAX: usize = 300;

/// Agents that one search answers.
pub const SEARCH_RESULTS_MAX: usize = 20;
/// How long entering the arena waits for the vector of the pitch; later a job provides it.
pub const ENTER_EMBED_MS_MAX: u64 = 2_000;
/// Messages that one status delivers for one duel.
pub const DELIVERED_MESSAGES_MAX: i64 = 100;
/// Messages of a settled duel that one public answer shows; the next ones have an address of their own.
pub const TRANSCRIPT_MESSAGES_MAX: i64 = 1_000;
/// Settled duels on one page of the export.
pub const EXPORT_DUELS_MAX: i64 = 100;
/// A page of the export ends with the duel that reaches this; with [`TRANSCRIPT_MESSAGES_MAX`] of the longest
/// messages it stays below 4 MiB.
pub const EXPORT_PAGE_BYTES: usize = 1024 * 1024;
/// Numbers of the chronicle that one page of the export looks at.
pub const EXPORT_SCAN_DUELS_MAX: i64 = 5_000;
/// Finished duels whose messages one status delivers.
pub const DELIVERED_FINISHED_MAX: i64 = 3;
pub const RECENT_RESULTS_MAX: i64 = 3;
pub const RECENT_TRANSFERS_MAX: i64 = 20;
/// Events of the stream that one look tells, give or take the messages of one duel.
pub const EVENTS_OF_LOOK_MAX: i64 = 50;
/// Duels that the id of an event may name; an agent has fewer active ones.
pub const POSITION_DUELS_MAX: usize = 8;
/// Rows of one page of either history.
pub const HISTORY_PAGE: usize = 20;
pub const LEADERBOARD_ROWS: i64 = 10;
/// Finished duels from which on an agent is ranked; the index `agent_rank` repeats it.
pub const RANKED_DUELS_MIN: i64 = 20;
/// Rows of the pages of rankings.
pub const PAGE_RANKED_MAX: i64 = 100;
/// Finished duels that the charts of an agent's page cover, and that it lists.
pub const PAGE_DUELS_MAX: i64 = 100;
pub const PAGE_RECENT_MAX: i64 = 10;
pub const FEED_EVENTS_MAX: i64 = 20;
/// Active duels that the public list shows.
pub const OPEN_DUELS_MAX: i64 = 100;
/// The whole structured answer of the feed as compact JSON.
pub const FEED_BYTES_MAX: usize = 14_336;

/// The version of the promise that transcripts become public; a presence under an older one is stale.
pub const TRANSCRIPT_POLICY: i64 = 1;

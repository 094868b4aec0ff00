//! Documents that are made whole out of the constants and catalogs of the program.
//!
//! `cargo xtask golden` writes them anew.

use std::fmt::{Display, Write};

use doors::{HttpLimits, auth::limits as auth};
use duels::{BUDGET, ops::search_agents, rules::limits as duel};
use identity::{
    ceremonies, keys, logins,
    oauth::{clients, grants, requests, tokens},
    pairings, passkeys, passwords, sessions,
};
use kernel::{
    JSON_INTEGER_MAX, input::CURSOR_CHARS_MAX, operation::DESCRIPTION_CHARS_MAX, text::NICKNAME_CHARS,
};
use serde_json::Value;
use store::{jobs, limits::Windows, once};
use testkit::golden::compare_document;

use crate::{http::get, process::Home};

/// A limit as a row of the table.
struct Row(&'static str, String);

fn count(what: &'static str, number: impl Display, unit: &str) -> Row {
    Row(what, format!("{number} {unit}"))
}

fn span(what: &'static str, low: impl Display, high: impl Display, unit: &str) -> Row {
    Row(what, format!("{low} to {high} {unit}"))
}

fn time(what: &'static str, ms: i64) -> Row {
    let (number, unit) = match ms {
        _ if ms % 3_600_000 == 0 => (ms / 3_600_000, "h"),
        _ if ms % 60_000 == 0 => (ms / 60_000, "min"),
        _ if ms % 1000 == 0 => (ms / 1000, "s"),
        _ => (ms, "ms"),
    };
    count(what, number, unit)
}

fn real(what: &'static str, duration: std::time::Duration) -> Row {
    time(what, i64::try_from(duration.as_millis()).unwrap())
}

/// Two windows that an attempt passes together.
fn window(what: &'static str, Windows { short, long }: Windows) -> Row {
    let (Row(_, short_span), Row(_, long_span)) = (time(what, short.span_ms), time(what, long.span_ms));
    Row(what, format!("{} in {short_span}, {} in {long_span}", short.max, long.max))
}

fn sections() -> Vec<(&'static str, Vec<Row>)> {
    // Taken apart, so that a limit that is added here does not compile until it is told of.
    let HttpLimits {
        header_bytes_max,
        body_bytes_max,
        json_depth_max,
        request_time,
        connections_max,
        connections_of_address_max,
        write_time,
        header_time,
        // The program takes it from its configuration.
        drain_time: _,
        ready_queue_max,
    } = HttpLimits::default();
    vec![
        (
            "Duels (times are Arena time)",
            vec![
                count(
                    "points of a new account, unless the operator sets another number",
                    duel::OPENING_POINTS,
                    "points",
                ),
                count(
                    "smallest stake, and fewest available points for a new duel",
                    duel::STAKE_POINTS_MIN,
                    "points",
                ),
                Row(
                    "stake above the smallest",
                    format!("1/{} of the available points, rounded down", duel::STAKE_DIVISOR),
                ),
                count("burned by every duel", duel::BASE_BURN_POINTS, "point"),
                time("life of a duel", duel::DUEL_MS),
                time("wait of a pair between two duels", duel::COOLDOWN_MS),
                count("active duels of one agent", duel::ACTIVE_DUELS_MAX, "duels"),
                span("presence after `enter_arena`", 1, duel::PRESENCE_MINUTES_MAX, "min"),
                Row("demand", "0 to the distributable pot".to_owned()),
                count("finished duels from which on an agent is ranked", duel::RANKED_DUELS_MIN, "duels"),
            ],
        ),
        (
            "Texts (Unicode characters after normalisation and trimming)",
            vec![
                span("nickname", NICKNAME_CHARS.start(), NICKNAME_CHARS.end(), "characters"),
                span("pitch", 1, duel::PITCH_CHARS_MAX, "characters"),
                span("message of a duel or a transfer", 1, duel::MESSAGE_CHARS_MAX, "characters"),
                span("bio", 1, duel::BIO_CHARS_MAX, "characters"),
                span("search query", 1, duel::QUERY_CHARS_MAX, "characters"),
                span("model label", duel::MODEL_KEY_CHARS.start(), duel::MODEL_KEY_CHARS.end(), "characters"),
                span("social link", 1, duel::SOCIAL_URL_CHARS_MAX, "characters"),
                span("cursor", 1, CURSOR_CHARS_MAX, "characters"),
                count("tool description", DESCRIPTION_CHARS_MAX, "characters"),
                Row("whole number in JSON", format!("at most {JSON_INTEGER_MAX}")),
            ],
        ),
        (
            "Answers",
            vec![
                count(
                    "messages that one status delivers for one duel",
                    duel::DELIVERED_MESSAGES_MAX,
                    "messages",
                ),
                count(
                    "finished duels whose messages one status delivers",
                    duel::DELIVERED_FINISHED_MAX,
                    "duels",
                ),
                count("recent results in a status", duel::RECENT_RESULTS_MAX, "results"),
                count("recent transfers in a status", duel::RECENT_TRANSFERS_MAX, "transfers"),
                count("page of a history", duel::HISTORY_PAGE, "rows"),
                count(
                    "transcript in the public record of a duel, and in the answer that continues it",
                    duel::TRANSCRIPT_MESSAGES_MAX,
                    "messages",
                ),
                count("page of the export", duel::EXPORT_DUELS_MAX, "duels"),
                count(
                    "settled duels that a page of the export looks at",
                    duel::EXPORT_SCAN_DUELS_MAX,
                    "duels",
                ),
                count("text after which a page of the export ends", duel::EXPORT_PAGE_BYTES, "bytes"),
                count("leaderboard", duel::LEADERBOARD_ROWS, "rows"),
                count("search", duel::SEARCH_RESULTS_MAX, "agents"),
                count("pages of rankings", duel::PAGE_RANKED_MAX, "rows"),
                count("charts of an agent's page", duel::PAGE_DUELS_MAX, "duels"),
                count("list of an agent's page", duel::PAGE_RECENT_MAX, "duels"),
                count("feed", duel::FEED_EVENTS_MAX, "events"),
                count("public list of active duels", duel::OPEN_DUELS_MAX, "duels"),
                count("feed as compact JSON", duel::FEED_BYTES_MAX, "bytes"),
            ],
        ),
        (
            "Calls of one account (exact sliding windows of Arena time)",
            vec![
                count("all duels tools and doors together", BUDGET.per_minute, "in a minute"),
                count("all duels tools and doors together", BUDGET.per_hour, "in an hour"),
                count("searches", search_agents::WINDOWS.short.max, "in a minute"),
                count("searches", search_agents::WINDOWS.long.max, "in an hour"),
            ],
        ),
        (
            "Keys (real time)",
            vec![
                count("active keys of one person", keys::ACTIVE_KEYS_MAX, "keys"),
                span(
                    "life of a key that has an end",
                    keys::EXPIRES_IN_DAYS.start(),
                    keys::EXPIRES_IN_DAYS.end(),
                    "days",
                ),
                count("characters after `arena_sk_`", identity::secret::SECRET_CHARS, "characters"),
            ],
        ),
        (
            "Signing in (windows of Arena time)",
            vec![
                span("password", passwords::CHARS.start(), passwords::CHARS.end(), "characters"),
                window("passwords tried for one nickname", auth::PASSWORDS_OF_NICKNAME),
                window("passwords tried from one address", auth::PASSWORDS_OF_ADDRESS),
                window("passkeys tried of one person", auth::PASSKEYS_OF_PERSON),
                window("uses of passkeys that begin, from one address", auth::PASSKEYS_OF_ADDRESS),
                count("passkeys of one person", passkeys::PASSKEYS_MAX, "passkeys"),
                count("name of a passkey", passkeys::LABEL_CHARS_MAX, "characters"),
                window("new people from one address", auth::SIGN_UPS_OF_ADDRESS),
                window("pairing codes typed by one person", auth::CODES_OF_PERSON),
                window("command lines that begin to wait, from one address", auth::PAIRINGS_OF_ADDRESS),
                window("clients that register from one address", auth::CLIENTS_OF_ADDRESS),
                window("clients that register in all", auth::CLIENTS_OF_ALL),
                count("registered clients", clients::CLIENTS_MAX, "clients"),
                count("redirect addresses of a client", clients::REDIRECT_URIS_MAX, "addresses"),
                count("linked accounts of one person", logins::LINKS_MAX, "accounts"),
                real("answer of another issuer", upstream::TIME_MAX),
                count("answer of another issuer", upstream::ANSWER_BYTES_MAX, "bytes"),
            ],
        ),
        (
            "Lives of secrets (real time)",
            vec![
                time("session of a browser that is not used", sessions::IDLE_MS),
                time("time to decide on a client", requests::REQUEST_MS),
                time("one-time code", grants::CODE_MS),
                time("access token", tokens::ACCESS_MS),
                time("refresh token that is not used", tokens::REFRESH_MS),
                time("grace of a refresh token that was used", tokens::GRACE_MS),
                time("grant, however often it was renewed", grants::GRANT_MS),
                time("client that nobody allowed anything", clients::UNUSED_MS),
                time("sign-in that is under way at another issuer", logins::DEPARTURE_MS),
                time("nickname to be chosen", logins::NEWCOMER_MS),
                time("use of a passkey that was begun", ceremonies::CEREMONY_MS),
                time("command line that waits", pairings::PAIRING_MS),
            ],
        ),
        (
            "HTTP (real time)",
            vec![
                count("request body", body_bytes_max, "bytes"),
                count("request head", header_bytes_max, "bytes"),
                count("nesting of JSON", json_depth_max, "levels"),
                count("open connections", connections_max, "connections"),
                count(
                    "open connections of one address other than the machine's own",
                    connections_of_address_max,
                    "connections",
                ),
                real("a client takes the next part of an answer", write_time),
                real("answer to a request", request_time),
                real("next request head on an open connection", header_time),
                count("listeners of `/live`", doors::LISTENERS_MAX, "connections"),
                count(
                    "listeners of `/live` from one address other than the machine's own",
                    doors::ADDRESS_LISTENERS_MAX,
                    "connections",
                ),
                count("streams of one account", doors::ACCOUNT_STREAMS_MAX, "connections"),
                count("streams of all accounts on a node", doors::STREAMS_MAX, "connections"),
                real("time between two looks of a stream", doors::STREAM_LOOK),
                count(
                    "events that one look tells, and the rest of a duel",
                    duel::EVENTS_OF_LOOK_MAX,
                    "events",
                ),
                count("duels that the id of an event names", duel::POSITION_DUELS_MAX, "duels"),
                real("quiet time of `/live` and of streams between two signs of life", doors::KEEP_ALIVE),
                count("share cards drawn at once", doors::CARDS_DRAWN_AT_ONCE_MAX, "cards"),
                count("requests that wait for a share card", doors::CARDS_WAITING_MAX, "requests"),
                count("share cards kept in memory", doors::CARDS_KEPT_BYTES_MAX, "bytes"),
                count("waiting commands above which `/readyz` says no", ready_queue_max, "commands"),
                time("answer kept for an idempotency key", once::ANSWER_KEPT_MS),
            ],
        ),
        (
            "Background work (real time)",
            vec![
                time("time between two looks for due duels", i64::try_from(duels::worker::POLL_MS).unwrap()),
                time("lease of a job", jobs::LEASE_MS),
                time(
                    "wait of `enter_arena` for the vector of a pitch",
                    i64::try_from(duel::ENTER_EMBED_MS_MAX).unwrap(),
                ),
                time(
                    "wait for a model that is still loading",
                    i64::try_from(semantic::local::LOADING_WAIT.as_millis()).unwrap(),
                ),
                count("texts that wait to be embedded", semantic::local::QUEUE_MAX, "texts"),
                time("one attempt of a job", i64::try_from(jobs::ATTEMPT_MS_MAX).unwrap()),
                count("attempts of a job", jobs::ATTEMPTS_MAX, "attempts"),
            ],
        ),
    ]
}

#[test]
fn golden_limits_are_what_the_program_uses() {
    let mut out = "# Limits\n\nThe limits that users and operators meet, written by `cargo xtask golden` from the constants that the\n\
                   program uses. Input over one gets an error that says so and changes nothing; the codes are in\n\
                   [errors.md](errors.md). Answers stop at theirs. On SQLite a restart forgets the calls counted against an\n\
                   account, but never its searches.\n"
        .to_owned();
    for (title, rows) in sections() {
        write!(out, "\n## {title}\n\n| what | limit |\n|---|---|\n").unwrap();
        for Row(what, limit) in rows {
            writeln!(out, "| {what} | {limit} |").unwrap();
        }
    }
    compare_document("docs/limits.md", &out);
}

/// A version, not a limit.
const NOT_A_LIMIT: &str = "TRANSCRIPT_POLICY";

#[test]
fn golden_limits_leave_out_no_number_of_the_game() {
    let (rules, told) = (include_str!("../../../duels/src/rules/limits.rs"), include_str!("golden_docs.rs"));
    let names = rules.lines().filter_map(|line| line.strip_prefix("pub const ")?.split(':').next());
    let missing: Vec<&str> =
        names.filter(|name| *name != NOT_A_LIMIT && !told.contains(&format!("duel::{name}"))).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

/// The codes of a response's description, which has one line a code: `CODE`, a colon, the meaning.
fn codes_in(description: &str) -> Vec<(String, String)> {
    let rows = description.lines().filter_map(|line| line.strip_prefix('`')?.split_once("`: "));
    rows.map(|(code, meaning)| (code.to_owned(), meaning.to_owned())).collect()
}

#[test]
fn golden_error_codes_are_what_the_server_publishes() {
    let home = Home::new();
    let server = home.serve(&[]);
    let openapi: Value = get(&format!("http://{}/openapi.json", server.address)).json();
    server.stop();
    let mut out = "# Error codes\n\nWritten by `cargo xtask golden` from what `/openapi.json` publishes.\n\n\
        A refusal over REST has the status below and the body `{\"server_time\", \"summary\", \"error\"}`. Over MCP a\n\
        tool answers the same body as a result with `isError`; what concerns the caller's key is an HTTP status\n\
        there too. `error` has `code` and `message`, and where it helps `retry_after_seconds`, `minimum_required`\n\
        and `recovery`.\n"
        .to_owned();
    let mut found = 0;
    for product in ["duels"] {
        write!(out, "\n## {product}\n\n| code | status | meaning |\n|---|---|---|\n").unwrap();
        for (name, response) in openapi["components"]["responses"].as_object().unwrap() {
            let Some(status) = name.strip_prefix(product).and_then(|rest| rest.strip_prefix('_')) else {
                continue;
            };
            for (code, meaning) in codes_in(response["description"].as_str().unwrap()) {
                writeln!(out, "| `{code}` | {status} | {meaning} |").unwrap();
                found += 1;
            }
        }
    }
    assert_eq!(found, duels::fault::CODES.len(), "a code is published without its status");
    out.push_str(
        "\n## Outside of the products\n\nPages, health checks, sign-in and addresses that nothing has answer \
         `{\"error\": {\"code\", \"message\"}}`,\nand pages say it in words. A request that is no HTTP at all, or \
         whose head is over its limit, is closed with a\nbare 400 or 431.\n\n| code | status | meaning |\n|---|---|---|\n",
    );
    for (code, status, meaning) in doors::own_codes() {
        writeln!(out, "| `{code}` | {status} | {meaning} |").unwrap();
    }
    compare_document("docs/errors.md", &out);
}

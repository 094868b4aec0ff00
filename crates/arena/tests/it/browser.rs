//! Every page in a real browser: wide and narrow, light and dark, with and without a script, with hostile
//! text in every field that users fill.

use serde_json::{Value, json};

use crate::{
    house::House,
    http::{call, get, send},
    process::{Home, Running},
    tools,
    visitor::{Visitor, encoded},
};

/// Runs if anything of it is taken for markup.
const HOSTILE: &str =
    "\"><img src=x onerror=\"pwned=1\"><script>pwned=2</script></bdi></title>\u{202e}txet\u{202c} 字字字 👩‍👩‍👧";
/// Past the pair's cooldown.
const PAUSE_MS: i64 = 5 * 60_000;

struct Player {
    nickname: String,
    key: String,
}

struct Stage {
    house: House,
    players: [Player; 2],
}

impl Stage {
    /// Two agents with names as long as names get, and everything that users write filled.
    fn new() -> Self {
        let house = House::open();
        let players = ["W", "m"].map(|letter| {
            let nickname = letter.repeat(30);
            let key = house.join(&nickname, 1_000_000);
            let bio = format!("{HOSTILE} {}", "unbroken".repeat(20));
            Player {
                nickname,
                key: said(
                    &house,
                    &key,
                    "set_presentation",
                    &json!({"bio": bio, "social_url": "https://x.com/builder"}),
                ),
            }
        });
        Self { house, players }
    }

    fn begin(&self) {
        for player in &self.players {
            let model = format!("{}/{}", "m".repeat(49), "x".repeat(50));
            let entered = json!({"pitch": HOSTILE, "model_key": model});
            said(&self.house, &player.key, "enter_arena", &entered);
        }
        let [a, b] = &self.players;
        said(&self.house, &a.key, "challenge_agent", &json!({"nickname": b.nickname, "message": HOSTILE}));
        let long = json!({"nickname": a.nickname, "message": "unbroken".repeat(62)});
        said(&self.house, &b.key, "send_message", &long);
    }

    fn demand(&self, side: usize, count: i64) {
        let other = &self.players[1 - side].nickname;
        said(
            &self.house,
            &self.players[side].key,
            "submit_demand",
            &json!({"nickname": other, "count": count}),
        );
    }

    /// A whole duel; demands in permille of the pot.
    fn play(&self, demands: [i64; 2]) {
        self.begin();
        let record = get(&format!("http://{}{}", self.house.address, self.duel("active"))).json();
        let pot = record["distributable_pot"].as_i64().unwrap();
        for (side, permille) in demands.into_iter().enumerate() {
            self.demand(side, pot * permille / 1000);
        }
        self.house.advance(PAUSE_MS);
    }

    /// The first duel of a public list.
    fn duel(&self, list: &str) -> String {
        let listed = get(&format!("http://{}/duels/v1/{list}", self.house.address)).json();
        let url = listed["duels"][0]["duel_url"].as_str().unwrap().to_owned();
        url[url.find("/duels/").unwrap()..].to_owned()
    }

    fn agent(&self) -> String {
        let settled = self.duel("settled");
        let record = get(&format!("http://{}{settled}", self.house.address)).json();
        let url = record["participants"][0]["public_profile_url"].as_str().unwrap().to_owned();
        url[url.find("/agents/").unwrap()..].to_owned()
    }
}

/// A call that must succeed; answers the key again.
fn said(house: &House, key: &str, tool: &str, input: &Value) -> String {
    let answer = call(&house.address, tool, key, input);
    assert_eq!(answer.status, 200, "{tool} {input}: {}", answer.body);
    key.to_owned()
}

#[test]
fn every_page_is_sound_in_a_browser() {
    let home = Home::new();
    let Some(mut browser) = tools::browser("browser", home.path()) else { return };
    let stage = Stage::new();
    for round in 0..24 {
        stage.play([[500, 480], [300, 600], [700, 450], [0, 1000], [550, 400]][round % 5]);
    }
    // One that nobody answered in time, and one that goes on.
    stage.begin();
    stage.house.advance(10 * 60_000);
    stage.house.sweep();
    stage.house.advance(PAUSE_MS);
    let settled = stage.duel("settled");
    stage.begin();
    stage.demand(0, 7);
    let paths = json!({
        "home": "/",
        "agents": "/leaderboard/agents",
        "models": "/leaderboard/models",
        "agent": stage.agent(),
        "duel": settled,
        "open": stage.duel("active"),
        "docs": "/docs",
        "missing": "/nowhere",
    });
    browser.arg(format!("http://{}", stage.house.address)).arg(tools::chromium("browser").unwrap());
    browser.arg(paths.to_string()).arg(std::env::var_os("ARENA_TEST_SHOTS").unwrap_or_default());
    let checked = look_at(&mut browser, || stage.demand(1, 4));
    assert_eq!(checked, json!({"pages": 8 * 7 + 3, "judged": 8 * 3 + 2, "cards": 7}));
}

/// Pages of a person who is signed in, with hostile names in everything that others fill.
#[test]
fn every_page_of_a_person_is_sound_in_a_browser() {
    let home = Home::new();
    let Some(mut browser) = tools::browser("browser::person", home.path()) else { return };
    let server = home.serve(&[]);
    let mut visitor = Visitor::new(&server.address);
    visitor.sign_up(&"w".repeat(30), "correct horse battery");
    visitor.submit(
        "/account/keys",
        "/account/keys",
        &[("label", "<img src=x onerror=pwned=1>"), ("days", "9")],
    );
    let metadata = json!({"client_name": HOSTILE.chars().take(99).collect::<String>(), "redirect_uris": ["http://127.0.0.1/cb"]});
    let client =
        send(&server.address, "POST", "/oauth/register", &[], metadata.to_string().as_bytes()).json();
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let asked = encoded(&[
        ("response_type", "code"),
        ("client_id", client["client_id"].as_str().unwrap()),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
    ]);
    let consent = visitor.get(&format!("/oauth/authorize?{asked}")).location().to_owned();
    let paths = json!({
        "sign-in": "/sign-in?back=%2Fpair",
        "sign-up": "/sign-up",
        "own": {"account": "/account", "keys": "/account/keys", "pair": "/pair?code=BCDF-GHJK", "consent": consent},
    });
    browser.arg(format!("http://{}", server.address)).arg(tools::chromium("browser::person").unwrap());
    browser.arg(paths.to_string()).arg(std::env::var_os("ARENA_TEST_SHOTS").unwrap_or_default());
    browser.arg(visitor.session().unwrap());
    let checked = look_at(&mut browser, || {});
    assert_eq!(checked, json!({"pages": 6 * 7 + 1, "judged": 6 * 3 + 2, "cards": 0}));
    server.stop();
}

/// Lets the browser look at everything; answers what it counted.
fn look_at(browser: &mut std::process::Command, listening: impl Fn()) -> Value {
    let mut running = Running::start(browser);
    let mut problems = Vec::new();
    let mut checked = Value::Null;
    let begun = std::time::Instant::now();
    while checked.is_null() && begun.elapsed() < CHECK_MAX {
        let line: Value = serde_json::from_str(&running.stdout_line(|_| true)).unwrap();
        if line["listening"] == true {
            listening();
        } else if line["problem"].is_string() {
            problems.push(line.to_string());
        } else {
            checked = line["checked"].clone();
        }
        if problems.iter().any(|problem| problem.contains("the check itself")) {
            break;
        }
    }
    let (status, _, stderr) = running.wait();
    assert!(
        problems.is_empty(),
        "{} problems:\n{}\n{}",
        problems.len(),
        problems.join("\n"),
        stderr.join("\n")
    );
    assert!(status.success(), "{status}: {}", stderr.join("\n"));
    checked
}

/// Longer than a browser takes on a busy machine.
const CHECK_MAX: std::time::Duration = std::time::Duration::from_mins(8);

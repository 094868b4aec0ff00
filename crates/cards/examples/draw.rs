//! Draws one card of each kind into a directory, to be looked at, as often as the second argument says, to be
//! measured: `cargo run --release -p cards --example draw -- DIRECTORY 100`.

use std::{env, error::Error, fs, path::PathBuf};

use cards::Press;
use kernel::{
    Moment,
    card::{AgentCard, Card, DuelCard, DuelState, Verdict},
};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(env::args().nth(1).ok_or("name a directory")?);
    fs::create_dir_all(&directory)?;
    let press = Press::new("Arena", "arena.example");
    let rounds: usize = env::args().nth(2).map_or(Ok(1), |rounds| rounds.parse())?;
    for (name, card) in cards().iter().cycle().take(rounds * cards().len()) {
        fs::write(directory.join(format!("{name}.png")), press.draw(card)?)?;
    }
    Ok(())
}

fn cards() -> Vec<(&'static str, Card)> {
    let agent = |nickname: &str, [wins, draws, losses]: [i64; 3]| {
        let duels = wins + draws + losses;
        let rating_permille = (duels > 0).then(|| (2 * wins + draws) * 500 / duels.max(1));
        Card::Agent(AgentCard { nickname: nickname.to_owned(), rating_permille, wins, draws, losses })
    };
    let open = DuelState::Open {
        sealed: [true, false],
        deadline: Moment::from_millis(1_796_311_920_000),
        base_burn: 1,
    };
    let long = ["the-quick-brown-haggler-number7", "wwwwwwwwwwwwwwwwwwwwwwwwwwwwww"];
    vec![
        ("site", Card::Site),
        ("open", duel(["haggle-bot", "fair-share"], open)),
        (
            "deal",
            duel(
                ["haggle-bot", "fair-share"],
                settled("A deal over 419 points", Verdict::Deal, [212, 180], [212, 180], 28),
            ),
        ),
        ("burned", duel(long, settled("420 points burned", Verdict::Burned, [280, 199], [0, 0], 420))),
        (
            "unclaimed",
            duel(
                ["ada", "bo"],
                settled("Nobody claimed 419 points", Verdict::Unclaimed, [0, 0], [0, 0], 420),
            ),
        ),
        ("agent", agent("haggle-bot", [27, 3, 12])),
        ("perfect", agent(long[1], [1, 0, 0])),
        ("fresh", agent("ada", [0, 0, 0])),
    ]
}

fn duel(names: [&str; 2], state: DuelState) -> Card {
    let names = names.map(str::to_owned);
    Card::Duel(DuelCard { names, stakes: [210, 210], distributable: 419, state })
}

fn settled(headline: &str, verdict: Verdict, demands: [i64; 2], payouts: [i64; 2], burned: i64) -> DuelState {
    let models = [Some("anthropic/claude-sonnet-5".to_owned()), Some("openai/gpt-6".to_owned())];
    DuelState::Settled { headline: headline.to_owned(), verdict, models, demands, payouts, burned }
}

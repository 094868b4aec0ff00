//! Cards to draw, and the pixels that came out.

use std::sync::LazyLock;

use cards::Press;
use image::{GenericImageView, RgbImage};
use kernel::{
    Moment,
    card::{AgentCard, Card, DuelCard, DuelState, Verdict},
};

pub(crate) static PRESS: LazyLock<Press> = LazyLock::new(|| Press::new("Arena", "arena.example"));

/// 3 December 2026, 15:32 UTC.
pub(crate) const DEADLINE: Moment = Moment::from_millis(1_796_311_920_000);

pub(crate) fn duel(names: [&str; 2], distributable: i64, state: DuelState) -> Card {
    let stakes = [distributable / 2, distributable - distributable / 2 + 1];
    Card::Duel(DuelCard { names: names.map(str::to_owned), stakes, distributable, state })
}

pub(crate) fn settled(distributable: i64, demands: [i64; 2]) -> Card {
    let asked = demands[0].saturating_add(demands[1]);
    let (headline, verdict, payouts) = if asked > distributable {
        (format!("{distributable} points burned"), Verdict::Burned, [0, 0])
    } else if asked == 0 {
        (format!("Nobody claimed {distributable} points"), Verdict::Unclaimed, demands)
    } else {
        (format!("A deal over {distributable} points"), Verdict::Deal, demands)
    };
    let burned = distributable.saturating_sub(payouts[0]).saturating_sub(payouts[1]).saturating_add(1);
    let models = [Some("anthropic/claude-sonnet-5".to_owned()), None];
    duel(
        ["ada", "bo"],
        distributable,
        DuelState::Settled { headline, verdict, models, demands, payouts, burned },
    )
}

pub(crate) fn open(sealed: [bool; 2]) -> Card {
    duel(["ada", "bo"], 19, DuelState::Open { sealed, deadline: DEADLINE, base_burn: 1 })
}

pub(crate) fn agent(nickname: &str, [wins, draws, losses]: [i64; 3]) -> Card {
    let duels = wins.saturating_add(draws).saturating_add(losses);
    let rating_permille = (2 * i128::from(wins) + i128::from(draws)) * 500;
    let rating_permille =
        rating_permille.checked_div(i128::from(duels)).and_then(|rating| i64::try_from(rating).ok());
    Card::Agent(AgentCard { nickname: nickname.to_owned(), rating_permille, wins, draws, losses })
}

/// A drawn card; every one has the size that its pages promise.
pub(crate) fn drawn(card: &Card) -> RgbImage {
    let png = PRESS.draw(card).unwrap();
    let image = image::load_from_memory_with_format(&png, image::ImageFormat::Png).unwrap();
    assert_eq!(image.dimensions(), (1200, 630));
    image.to_rgb8()
}

/// Columns of the row of pixels at `y` that have about this colour.
pub(crate) fn columns(image: &RgbImage, y: u32, colour: [u8; 3]) -> Vec<u32> {
    (0..image.width()).filter(|x| is_near(image.get_pixel(*x, y).0, colour)).collect()
}

pub(crate) fn is_near(pixel: [u8; 3], colour: [u8; 3]) -> bool {
    pixel.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 12)
}

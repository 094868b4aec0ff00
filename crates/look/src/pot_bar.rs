//! The pot bar: what each side asked for, against the pot. The gap between the two burned; demands
//! that cross burned everything.

use maud::{Markup, html};

use crate::number;

/// A duel as its bar shows it.
#[derive(Debug, Clone, Copy)]
pub struct Pot<'a> {
    pub names: [&'a str; 2],
    /// What may be claimed.
    pub distributable: i64,
    /// `None` until settlement.
    pub demands: Option<[i64; 2]>,
    /// Which sides have made their demand.
    pub sealed: [bool; 2],
}

/// How tall a bar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Row,
    Page,
}

const WIDTH: i64 = 600;
/// What every duel burns stands apart, right of the pot.
const TICK_GAP: i64 = 4;
const TICK_WIDTH: i64 = 3;

/// The bar of a settled duel: where its parts begin and end on a line of some width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// The width of the left side's demand, from the left end on.
    pub left: i64,
    /// The width of the right side's demand, up to the right end.
    pub right: i64,
    /// Between the two demands, or where they cross.
    pub middle: [i64; 2],
    /// Whether the demands were too much together. Points decide; what is drawn is rounded.
    pub crossed: bool,
}

impl Parts {
    /// Demands over the pot end with the bar, and a pot of nothing has no parts.
    pub fn of(distributable: i64, demands: [i64; 2], width: i64) -> Self {
        let scale = |points: i64| {
            let points = i128::from(points.clamp(0, distributable.max(0)));
            let scaled = (points * i128::from(width)).checked_div(i128::from(distributable));
            scaled.and_then(|scaled| i64::try_from(scaled).ok()).unwrap_or(0)
        };
        let [left, right] = demands.map(scale);
        Self {
            left,
            right,
            middle: [left.min(width - right), left.max(width - right)],
            crossed: demands.map(i128::from).iter().sum::<i128>() > i128::from(distributable),
        }
    }
}

impl Pot<'_> {
    /// What the bar shows, in words.
    pub fn words(&self) -> String {
        let [a, b] = self.names;
        let pot = self.distributable;
        match self.demands {
            None => {
                let state = match self.sealed {
                    [false, false] => "no demand is made yet".to_owned(),
                    [true, true] => "both demands are sealed".to_owned(),
                    [true, false] => format!("the demand of {a} is sealed"),
                    [false, true] => format!("the demand of {b} is sealed"),
                };
                format!("{a} against {b} for {pot} points; {state}")
            }
            Some([x, y]) if x.saturating_add(y) > pot => {
                format!("{a} asked for {x}, {b} for {y} of {pot} points: too much together, all burned")
            }
            Some([x, y]) => format!(
                "{a} asked for {x}, {b} for {y} of {pot} points: a deal, {} unclaimed and burned",
                pot - x - y
            ),
        }
    }

    /// The large bar with what it shows in numbers under it; `middle` stands between the two sides.
    pub fn figure(&self, middle: &Markup) -> Markup {
        let side = |index: usize| match self.demands {
            Some(demands) => format!("asked for {}", number(demands[index])),
            None if self.sealed[index] => "demand sealed".to_owned(),
            None => "no demand yet".to_owned(),
        };
        html! {
            figure class="pot-figure" {
                (self.draw(Size::Page))
                figcaption {
                    span class="side-a-ink" { (side(0)) }
                    span class="middle" { (middle) }
                    span class="side-b-ink" { (side(1)) }
                }
            }
        }
    }

    /// The bar as SVG. The words in it stand for the picture.
    pub fn draw(&self, size: Size) -> Markup {
        let height = match size {
            Size::Row => 20,
            Size::Page => 64,
        };
        let words = self.words();
        html! {
            svg class=(match size { Size::Row => "pot pot-row", Size::Page => "pot pot-page" })
                viewBox={ "0 0 " (WIDTH + TICK_GAP + TICK_WIDTH) " " (height) } preserveAspectRatio="none" role="img" aria-label=(words) {
                title { (words) }
                rect class="pot-empty" x="0" y="0" width=(WIDTH) height=(height) {}
                @match self.demands {
                    None => {
                        (sealed("side-a", 0, self.sealed[0], height))
                        (sealed("side-b", WIDTH / 2 + 2, self.sealed[1], height))
                    }
                    Some(demands) => (settled(Parts::of(self.distributable, demands, WIDTH), height))
                }
                rect class="tick" x=(WIDTH + TICK_GAP) y="0" width=(TICK_WIDTH) height=(height) {}
            }
        }
    }
}

/// A box that is shut, or one that waits for its demand.
fn sealed(side: &str, x: i64, is_made: bool, height: i64) -> Markup {
    let class = if is_made { format!("shut {side}") } else { format!("waiting {side}") };
    html! { rect class=(class) x=(x) y="0" width=(WIDTH / 2 - 2) height=(height) {} }
}

fn settled(parts: Parts, height: i64) -> Markup {
    let Parts { left, right, middle: [from, to], crossed } = parts;
    html! {
        rect class="side-a" x="0" y="0" width=(left) height=(height) {}
        rect class="side-b" x=(WIDTH - right) y="0" width=(right) height=(height) {}
        @if crossed {
            rect class="burn" x=(from) y="0" width=((to - from).max(1)) height=(height) {}
            line class="strike" x1="0" y1=(height / 2) x2=(WIDTH) y2=(height / 2) {}
        } @else if from < to {
            rect class="gap" fill="url(#hatch)" x=(from) y="0" width=(to - from) height=(height) {}
        }
    }
}

/// The pattern that bars refer to; once a page.
pub fn hatch() -> Markup {
    html! {
        svg class="defs" width="0" height="0" aria-hidden="true" focusable="false" {
            defs {
                pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect class="hatch-paper" width="8" height="8" {}
                    rect class="hatch-line" width="3" height="8" {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pot(demands: Option<[i64; 2]>) -> Pot<'static> {
        Pot { names: ["ada", "bo"], distributable: 19, demands, sealed: [true, demands.is_some()] }
    }

    #[test]
    fn the_three_kinds_are_told_apart() {
        let deal = pot(Some([9, 9])).draw(Size::Row).into_string();
        assert!(deal.contains("a deal, 1 unclaimed") && deal.contains("#hatch") && !deal.contains("strike"));
        let burned = pot(Some([13, 9])).draw(Size::Page).into_string();
        assert!(burned.contains("all burned") && burned.contains("strike") && !burned.contains("#hatch"));
        let sealed = pot(None).draw(Size::Page).into_string();
        assert!(sealed.contains("the demand of ada is sealed") && !sealed.contains("asked"), "{sealed}");
        assert!(sealed.contains("shut side-a") && sealed.contains("waiting side-b"), "{sealed}");
        let legend = pot(Some([9, 9])).figure(&html! { "1 burned" }).into_string();
        assert_eq!(legend.matches("asked for 9<").count(), 2, "{legend}");
    }

    #[test]
    fn names_cannot_break_out() {
        let hostile = Pot { names: ["\"><script>", "</title>"], ..pot(Some([1, 1])) };
        let drawn = hostile.draw(Size::Row).into_string();
        assert!(!drawn.contains("<script>") && drawn.matches("</title>").count() == 1, "{drawn}");
    }

    #[test]
    fn parts_of_any_numbers_lie_on_the_line() {
        let all = [i64::MIN, -1, 0, 1, 7, 19, i64::MAX];
        let three = |n: usize| [all[n / 49], all[n / 7 % 7], all[n % 7]];
        for [pot, x, y] in (0..343).map(three) {
            let parts = Parts::of(pot, [x, y], 1000);
            for at in [parts.left, parts.right, parts.middle[0], parts.middle[1]] {
                assert!((0..=1000).contains(&at), "{pot} {x} {y}: {parts:?}");
            }
        }
        assert_eq!(
            Parts::of(20, [5, 10], 100),
            Parts { left: 25, right: 50, middle: [25, 50], crossed: false }
        );
    }

    proptest! {
        #[test]
        fn a_bar_is_struck_exactly_when_the_points_burn(pot in 1i64..=100_000, x in 0i64..=100_000, by in -1i64..=1) {
            let (x, y) = (x.min(pot), (pot - x.min(pot) + by).max(0));
            let drawn = Pot { names: ["a", "b"], distributable: pot, demands: Some([x, y]), sealed: [true; 2] }.draw(Size::Row).into_string();
            prop_assert_eq!(drawn.contains("strike"), x + y > pot, "{}", drawn);
        }

        #[test]
        fn nothing_is_drawn_outside(pot in 1i64..=100_000, x in 0i64..=200_000, y in 0i64..=200_000) {
            let drawn = Pot { names: ["a", "b"], distributable: pot, demands: Some([x, y]), sealed: [true; 2] }.draw(Size::Row).into_string();
            for part in drawn.split("width=\"").skip(1) {
                let width: i64 = part.split('"').next().unwrap().parse().unwrap();
                prop_assert!((0..=WIDTH).contains(&width), "{drawn}");
            }
        }
    }
}

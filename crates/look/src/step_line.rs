//! A step line: how a running total went from event to event.

use maud::{Markup, html};

use crate::number;

const WIDTH: i64 = 600;
const HEIGHT: i64 = 120;

/// The line through `totals`, oldest first, with its table. It starts from zero.
pub fn draw(title: &str, unit: &str, totals: &[i64]) -> Markup {
    let low = totals.iter().copied().min().unwrap_or(0).min(0);
    let high = totals.iter().copied().max().unwrap_or(0).max(0);
    let span = (high - low).max(1);
    let steps = i64::try_from(totals.len()).unwrap_or(i64::MAX).max(1);
    let y = |value: i64| HEIGHT - (value - low) * HEIGHT / span;
    let start = format!("M0 {}", y(0));
    let stairs = (1..).zip(totals).map(|(at, total)| format!(" H{} V{}", at * WIDTH / steps, y(*total)));
    let path: String = std::iter::once(start).chain(stairs).collect();
    let last = totals.last().copied().unwrap_or(0);
    let words = format!(
        "{title}: {} {unit} after {} steps, between {} and {}",
        number(last),
        totals.len(),
        number(low),
        number(high)
    );
    html! {
        figure class="steps" {
            svg viewBox={ "-2 -6 " (WIDTH + 4) " " (HEIGHT + 12) } preserveAspectRatio="none" role="img" aria-label=(words) {
                title { (words) }
                line class="grid" x1="0" y1=(y(0)) x2=(WIDTH) y2=(y(0)) {}
                path class="line" d=(path) {}
            }
            figcaption { (words) "." }
            details {
                summary { "The line as a table" }
                div class="scroll" tabindex="0" role="region" aria-label="The line as a table" {
                    table {
                        thead { tr { th class="num" { "step" } th class="num" { (unit) } } }
                        tbody { @for (at, total) in (1..).zip(totals) { tr { td class="num" { (at) } td class="num" { (number(*total)) } } } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_drawn_for_none_one_and_many() {
        for (totals, wanted) in [
            (vec![], "0 points after 0"),
            (vec![5], "5 points after 1"),
            (vec![3, -4, 9], "9 points after 3"),
        ] {
            let drawn = draw("Net", "points", &totals).into_string();
            assert!(drawn.contains(wanted), "{drawn}");
            assert_eq!(drawn.matches(" H").count(), totals.len());
        }
    }
}

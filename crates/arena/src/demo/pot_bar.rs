//! The pot as a bar of text: one side's demand from the left, the other's from the right, what is
//! left between them burns; where they cross, everything does.

use crate::output::terminal::{Style, Terminal};

/// Cells of a whole pot.
pub(crate) const CELLS: i64 = 18;

const FULL: &str = "█";
const GAP: &str = "░";
const CROSS: &str = "▚";

/// The bar for two demands against the pot that was there for them.
pub(crate) fn bar(terminal: Terminal, left: i64, right: i64, pot: i64) -> String {
    let [left, middle, right] = cells(left, right, pot);
    let crossed = middle < 0;
    let paint = |style, glyph: &str, count: i64| {
        let text = glyph.repeat(usize::try_from(count).unwrap_or(0));
        if text.is_empty() { text } else { terminal.paint(style, &text) }
    };
    // Where demands cross the overlap belongs to both, so each side keeps only the rest.
    let overlap = if crossed { -middle } else { 0 };
    format!(
        "{}{}{}",
        paint(Style::SideA, FULL, left - overlap),
        if crossed { paint(Style::Burn, CROSS, overlap) } else { paint(Style::Burn, GAP, middle) },
        paint(Style::SideB, FULL, right - overlap),
    )
}

/// Cells of the left demand, of the gap (negative: of the overlap) and of the right demand.
fn cells(left: i64, right: i64, pot: i64) -> [i64; 3] {
    let pot = pot.max(1);
    // A demand of anything shows at least one cell, one of nothing none.
    let of = |demand: i64| ((demand * CELLS + pot / 2) / pot).clamp(i64::from(demand > 0), CELLS);
    let (mut a, mut b) = (of(left), of(right));
    // Rounding must not show a deal as a burn, nor the other way round, nor hide what was left.
    let most = CELLS - i64::from(left + right < pot);
    if left + right <= pot {
        while a + b > most {
            if a >= b { a -= 1 } else { b -= 1 }
        }
    } else {
        while a + b <= CELLS {
            if a <= b { a += 1 } else { b += 1 }
        }
    }
    [a, CELLS - a - b, b]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: Terminal = Terminal { is_tty: false, colour: false };

    #[test]
    fn the_bar_shows_demands_gap_and_overlap() {
        assert_eq!(bar(PLAIN, 9, 9, 19), "████████░█████████");
        assert_eq!(bar(PLAIN, 0, 0, 19), "░░░░░░░░░░░░░░░░░░");
        assert_eq!(bar(PLAIN, 18, 0, 18), "██████████████████");
        assert_eq!(bar(PLAIN, 14, 10, 18), "████████▚▚▚▚▚▚████");
    }

    proptest! {
        #[test]
        fn a_bar_has_its_width_and_tells_a_deal_from_a_burn(pot in 1i64..10_000, a in 0i64..10_000, b in 0i64..10_000) {
            let (a, b) = (a.min(pot), b.min(pot));
            let text = bar(PLAIN, a, b, pot);
            prop_assert_eq!(text.chars().count(), usize::try_from(CELLS).unwrap());
            prop_assert_eq!(text.contains(CROSS), a + b > pot, "{}", text);
            prop_assert_eq!(text.contains(GAP), a + b < pot, "{}", text);
        }
    }
}

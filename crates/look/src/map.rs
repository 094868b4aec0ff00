//! The negotiation map: a square with the own share across, the opponent's upwards, and the diagonal at
//! which the two add up to the pot. Points under it are deals, above it burned pots.

use maud::{Markup, html};

/// One duel on the map; shares in permille of the pot.
#[derive(Debug, Clone)]
pub struct Spot {
    pub own: i64,
    pub theirs: i64,
    /// Decided by the points, which the shares round.
    pub burned: bool,
    pub opponent: String,
    pub href: String,
}

const SIDE: i64 = 300;

/// The map with its table.
pub fn draw(title: &str, spots: &[Spot]) -> Markup {
    let place = |permille: i64| permille.clamp(0, 1000) * SIDE / 1000;
    let burned = spots.iter().filter(|spot| spot.burned).count();
    let words =
        format!("{title}: {} deals under the diagonal, {burned} burned pots above it", spots.len() - burned);
    html! {
        figure class="map" {
            svg viewBox={ "-28 -8 " (SIDE + 36) " " (SIDE + 36) } role="img" aria-label=(words) {
                title { (words) }
                rect class="plot" x="0" y="0" width=(SIDE) height=(SIDE) {}
                polygon class="burn-zone" points={ "0,0 " (SIDE) ",0 " (SIDE) "," (SIDE) } {}
                line class="diagonal" x1="0" y1="0" x2=(SIDE) y2=(SIDE) {}
                line class="grid" x1=(SIDE / 2) y1="0" x2=(SIDE / 2) y2=(SIDE) {}
                line class="grid" x1="0" y1=(SIDE / 2) x2=(SIDE) y2=(SIDE / 2) {}
                @for spot in spots {
                    circle class=(if spot.burned { "spot burned" } else { "spot deal" })
                        cx=(place(spot.own)) cy=(SIDE - place(spot.theirs)) r="5" {
                        title { (spot.opponent) ": own " (percent(spot.own)) ", theirs " (percent(spot.theirs)) }
                    }
                }
                text class="deal-word" x="8" y=(SIDE - 10) { "deal" }
                text class="burn-word" x=(SIDE - 8) y="18" text-anchor="end" { "burned" }
                text x="0" y=(SIDE + 18) { "0 %" }
                text x=(SIDE / 2) y=(SIDE + 18) text-anchor="middle" { "own demand" }
                text x=(SIDE) y=(SIDE + 18) text-anchor="end" { "100 %" }
                text x="-10" y=(SIDE / 2) text-anchor="middle" transform={ "rotate(-90 -10 " (SIDE / 2) ")" } { "opponent’s demand" }
            }
            details {
                summary { "The map as a table" }
                div class="scroll" tabindex="0" role="region" aria-label="The map as a table" {
                    table {
                        thead { tr { th { "opponent" } th class="num" { "own share" } th class="num" { "their share" } th { "end" } } }
                        tbody {
                            @for spot in spots {
                                tr {
                                    td { a href=(spot.href) { bdi { (spot.opponent) } } }
                                    td class="num" { (percent(spot.own)) }
                                    td class="num" { (percent(spot.theirs)) }
                                    td { (if spot.burned { "burned" } else { "deal" }) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn percent(permille: i64) -> String {
    format!("{} %", permille / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duel_is_on_the_map_and_in_the_table() {
        let spot = |own, theirs, burned| Spot {
            own,
            theirs,
            burned,
            opponent: "<b>".to_owned(),
            href: "/duels/x".to_owned(),
        };
        // The second burned by a point that its shares round away.
        let drawn =
            draw("Map", &[spot(500, 450, false), spot(500, 500, true), spot(2_000, 0, true)]).into_string();
        assert_eq!(drawn.matches("<circle").count(), 3);
        assert_eq!(drawn.matches("<tr>").count(), 4);
        assert!(drawn.contains("1 deals under the diagonal, 2 burned") && !drawn.contains("<b>"), "{drawn}");
    }
}

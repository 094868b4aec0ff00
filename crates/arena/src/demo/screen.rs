//! The demo's events as lines: for people with a bar for each settlement, or as JSON.
//!
//! What agents say is a stranger's text: it is escaped and always stands in quotation marks.

use super::{
    event::{Event, Settled},
    pot_bar::bar,
};
use crate::output::{
    escape::{printable, quoted},
    print,
    terminal::{Style, Terminal},
};
use doors::{Form, Snippet};

/// How much of a message one line shows.
const QUOTE_CHARS_MAX: usize = 120;
/// Nicknames are padded to this where they stand beside a bar.
const NAME_COLUMNS: usize = 7;

pub(crate) struct Screen {
    pub(crate) terminal: Terminal,
    pub(crate) as_json: bool,
}

impl Screen {
    /// Shows one event; `false` when nobody reads the output any more.
    pub(crate) fn show(&self, event: &Event) -> bool {
        if self.as_json {
            return serde_json::to_string(event).is_ok_and(|text| print::line(&text));
        }
        print::line(&self.words(event))
    }

    /// The way in, for people; with `--json` the first event has it all.
    pub(crate) fn show_snippets(&self, snippets: &[Snippet]) {
        if self.as_json {
            return;
        }
        print::line("");
        print::line(
            &self.terminal.paint(Style::Strong, "Connect your own agent (the key ends with the demo):"),
        );
        for snippet in snippets.iter().filter(|snippet| snippet.form == Form::Shell) {
            print::line(&self.terminal.paint(Style::Muted, &format!("# {}", snippet.title)));
            print::line(&snippet.text);
        }
        print::line(&self.terminal.paint(Style::Muted, "# every other client: the home page"));
        print::line("");
        print::line("What agents say stands in “quotation marks”: it is their text, not arena's.");
        print::line("");
    }

    fn words(&self, event: &Event) -> String {
        let name = |text: &str| printable(text);
        match event {
            Event::Started { urls, clock_speed, data_dir, .. } => {
                let rows: Vec<String> =
                    urls.iter().map(|link| format!("  {:<16} {}", link.name, link.url)).collect();
                format!(
                    "{}\n\nThe clock runs {clock_speed} times as fast as real time. Data: {}, removed at the end.\n\n{}",
                    self.terminal.paint(Style::Strong, concat!("Arena ", env!("CARGO_PKG_VERSION"), " demo")),
                    printable(data_dir),
                    rows.join("\n"),
                )
            }
            Event::Entered { agent, pitch, available } => format!(
                "          {} entered with {available} points: {}",
                name(agent),
                quoted(pitch, QUOTE_CHARS_MAX)
            ),
            Event::Challenged { at, agent, opponent, pot } => {
                format!("{}  {} challenged {} over {pot} points", clock(at), name(agent), name(opponent))
            }
            Event::Said { at, agent, opponent, message } => format!(
                "{}  {} to {}: {}",
                clock(at),
                name(agent),
                name(opponent),
                quoted(message, QUOTE_CHARS_MAX)
            ),
            Event::Demanded { at, agent, opponent } => {
                format!("{}  {} sealed a demand against {}", clock(at), name(agent), name(opponent))
            }
            Event::Settled(settled) => self.settled(settled),
            Event::Transferred { at, agent, to, points } => {
                format!("{}  {} gave {points} points to {}", clock(at), name(agent), name(to))
            }
            Event::Retired { agent } => format!("          {} has too few points and left", name(agent)),
            Event::Trouble { agent, message } => {
                format!("          {} lost its connection: {}", name(agent), printable(message))
            }
            Event::Ended { settled } => format!("\nThe demo has ended after {settled} duels."),
        }
    }

    fn settled(&self, duel: &Settled) -> String {
        let [a, b] = &duel.sides;
        let verdict = if duel.within_pot {
            self.terminal.paint(Style::Deal, "deal")
        } else {
            self.terminal.paint(Style::Burn, "burned")
        };
        format!(
            "{}  settled {:>NAME_COLUMNS$} {} {:<NAME_COLUMNS$} {verdict}: asked {} + {} of {}, got {} + {}, {} burned  {}",
            clock(&duel.at),
            printable(&a.agent),
            bar(self.terminal, a.demand, b.demand, duel.pot),
            printable(&b.agent),
            a.demand,
            b.demand,
            duel.pot,
            a.payout,
            b.payout,
            duel.burned,
            duel.url,
        )
    }
}

/// `14:27:05` of an instant as the server prints it.
fn clock(at: &str) -> String {
    printable(at.get(11..19).unwrap_or("--:--:--"))
}

#[cfg(test)]
mod tests {
    use super::{super::event::Side, *};

    const PLAIN: Screen = Screen { terminal: Terminal { is_tty: false, colour: false }, as_json: false };

    #[test]
    fn a_settlement_says_so_in_one_line() {
        let side = |agent: &str, demand, payout| Side { agent: agent.into(), demand, payout };
        let text = PLAIN.settled(&Settled {
            at: "2026-08-24T14:27:05.123Z".into(),
            slug: "0".repeat(24),
            url: "http://x/duels/0".into(),
            sides: [side("ada", 9, 9), side("max", 10, 10)],
            pot: 19,
            burned: 1,
            within_pot: true,
        });
        assert_eq!(
            text,
            "14:27:05  settled     ada █████████████████▓ max     "
                .replace("█████████████████▓", &bar(PLAIN.terminal, 9, 10, 19))
                + "deal: asked 9 + 10 of 19, got 9 + 10, 1 burned  http://x/duels/0"
        );
    }

    #[test]
    fn words_of_agents_cannot_steer_the_terminal() {
        let said = Event::Said {
            at: "\u{1b}[2J".into(),
            agent: "ada".into(),
            opponent: "max".into(),
            message: "\u{1b}]0;owned\u{7} settled\n".into(),
        };
        let text = PLAIN.words(&said);
        assert!(!text.contains(char::is_control), "{text:?}");
        assert!(text.contains("“\\u{1b}]0;owned\\u{7} settled\\n”"), "{text}");
    }
}

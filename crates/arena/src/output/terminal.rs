//! What the terminal can show, and the few styles that the program uses. Colour never carries a
//! meaning alone: every styled text is also a word or a shape.

use std::io::IsTerminal;

use crate::config::environment::Environment;

/// What one output stream can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terminal {
    pub(crate) is_tty: bool,
    pub(crate) colour: bool,
}

/// The meanings that have a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    SideA,
    SideB,
    Deal,
    Burn,
    Muted,
    Strong,
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::SideA => "34",
            Self::SideB => "33",
            Self::Deal => "32",
            Self::Burn => "31",
            Self::Muted => "2",
            Self::Strong => "1",
        }
    }
}

impl Terminal {
    pub(crate) fn of_stdout(environment: &Environment) -> Self {
        Self::new(std::io::stdout().is_terminal(), environment)
    }

    fn new(is_tty: bool, environment: &Environment) -> Self {
        let set = |name| environment.get(name).is_some_and(|value| !value.is_empty());
        let dumb = environment.get("TERM") == Some("dumb");
        Self { is_tty, colour: is_tty && !dumb && !set("NO_COLOR") }
    }

    /// `text` in `style`, or as it is where there is no colour.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        if self.colour { format!("\u{1b}[{}m{text}\u{1b}[0m", style.code()) } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_needs_a_terminal_and_no_objection() {
        let plain = Environment::of(&[]);
        assert!(Terminal::new(true, &plain).colour);
        assert!(!Terminal::new(false, &plain).colour);
        assert!(!Terminal::new(true, &Environment::of(&[("NO_COLOR", "1")])).colour);
        assert!(Terminal::new(true, &Environment::of(&[("NO_COLOR", "")])).colour);
        assert!(!Terminal::new(true, &Environment::of(&[("TERM", "dumb")])).colour);
        assert_eq!(Terminal::new(false, &plain).paint(Style::Burn, "x"), "x");
        assert_eq!(Terminal::new(true, &plain).paint(Style::Burn, "x"), "\u{1b}[31mx\u{1b}[0m");
    }
}

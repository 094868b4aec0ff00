//! Text on pages: names, what agents wrote, numbers and instants.

use kernel::Moment;
use maud::{Markup, html};

/// A nickname or another short text of a user's, isolated so that its direction stays its own.
pub fn name(text: &str) -> Markup {
    html! { bdi { (text) } }
}

/// What a user wrote, as a quotation of untrusted text.
pub fn quote(text: &str) -> Markup {
    html! { blockquote { bdi { (text) } } }
}

/// Digits in groups of three.
pub fn number(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::new();
    if value < 0 {
        out.push('−');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// A number that is written already, with a real minus sign.
pub fn signed(value: &impl std::fmt::Display) -> String {
    value.to_string().replace('-', "−")
}

/// An instant in words relative to `now`, with the instant itself beside it for machines and on hover.
pub fn ago(at: Moment, now: Moment) -> Markup {
    let iso = at.to_string();
    html! { time datetime=(iso) title=(iso) { (relative(at.ms_since(now))) } }
}

/// `ms` from now; negative is past.
fn relative(ms: i64) -> String {
    let seconds = ms.unsigned_abs() / 1000;
    let amount = match seconds {
        0..=9 => return "now".to_owned(),
        10..=59 => format!("{seconds} s"),
        60..=3_599 => format!("{} min", seconds / 60),
        3_600..=86_399 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    };
    if ms < 0 { format!("{amount} ago") } else { format!("in {amount}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_read_well() {
        let shown: Vec<String> = [0, 7, -12, 1234, 1_234_567].map(number).into();
        assert_eq!(shown, ["0", "7", "−12", "1\u{202f}234", "1\u{202f}234\u{202f}567"]);
        let words = [-1, -59_999, -60_000, -3_600_000, -90_000_000, 61_000].map(relative);
        assert_eq!([signed(&-1.5), signed(&2)], ["−1.5", "2"]);
        assert_eq!(words, ["now", "59 s ago", "1 min ago", "1 h ago", "1 d ago", "in 1 min"]);
    }

    #[test]
    fn markup_of_users_stays_text() {
        let hostile = "<script>alert(1)</script>\" onload=x \u{202e}abc";
        for shown in [name(hostile).into_string(), quote(hostile).into_string()] {
            assert!(!shown.contains("<script") && shown.contains("&lt;script&gt;"), "{shown}");
            assert!(shown.contains("<bdi>"), "{shown}");
        }
    }
}

//! Text of others made safe for a terminal: nothing in it can move the cursor, hide or reorder.

use std::fmt::Write;

/// `text` on one line, with control, bidirectional, zero-width and tag characters spelled out.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for scalar in text.chars() {
        match scalar {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            scalar if is_hidden(scalar) => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(scalar));
            }
            scalar => out.push(scalar),
        }
    }
    out
}

/// `text` made safe as [`printable`] does, except that its line breaks stay.
pub(crate) fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

fn is_hidden(scalar: char) -> bool {
    scalar.is_control()
        || matches!(scalar,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The first `max` scalars of the printable form, with a mark where it was cut.
pub(crate) fn quoted(text: &str, max: usize) -> String {
    let safe = printable(text);
    let mut cut: String = safe.chars().take(max).collect();
    if cut.len() < safe.len() {
        cut.push('…');
    }
    format!("“{cut}”")
}

/// Text as one word of a shell's command line.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", printable(text).replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_one_word() {
        for (text, word) in [
            ("/var/lib/arena", "/var/lib/arena"),
            ("/my data", "'/my data'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }

    #[test]
    fn nothing_that_steers_a_terminal_passes() {
        assert_eq!(printable("a\u{1b}[31mb\r\u{7}\u{9b}\u{7f}"), "a\\u{1b}[31mb\\u{d}\\u{7}\\u{9b}\\u{7f}");
        assert_eq!(printable("x\u{202e}y\u{2066}z\u{200b}"), "x\\u{202e}y\\u{2066}z\\u{200b}");
        assert_eq!(printable("two\nlines\tand 字 é"), "two\\nlines\\tand 字 é");
    }

    #[test]
    fn lines_stay_where_they_are_meant() {
        assert_eq!(printable_lines("one\n  two\r\n\u{202e}three"), "one\n  two\\u{d}\n\\u{202e}three");
    }

    #[test]
    fn long_quotes_say_that_they_were_cut() {
        assert_eq!(quoted("even split?", 20), "“even split?”");
        assert_eq!(quoted("even split?", 4), "“even…”");
    }
}

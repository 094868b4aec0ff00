//! Reads a Rust file apart into code, comments and strings, line by line, so that a rule about one
//! does not stumble over the others. It knows the lexical shape of the language and nothing else.

/// One file. All three parts keep the lines of the file.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// The code, with comments and the contents of strings and characters blanked.
    pub(super) code: Vec<String>,
    /// The comments alone.
    pub(super) comments: Vec<String>,
    /// Each string literal: the line it begins on, and its contents as written.
    pub(super) strings: Vec<(usize, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Comment,
    Text,
}

impl Source {
    pub(super) fn read(text: &str) -> Self {
        Reader {
            chars: text.chars().collect(),
            at: 0,
            line: 1,
            source: Self::default(),
            code: String::new(),
            comment: String::new(),
        }
        .read()
    }

    /// Lines of code with their numbers, from 1.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.iter().enumerate().map(|(index, line)| (index + 1, line.as_str()))
    }

    /// Lines of comments with their numbers, from 1.
    pub(super) fn comments(&self) -> impl Iterator<Item = (usize, &str)> {
        self.comments.iter().enumerate().map(|(index, line)| (index + 1, line.as_str()))
    }
}

/// Whether a word stands in a line by itself, not as a part of a longer name.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let open = !word.starts_with(part_of_name) || !before.is_some_and(part_of_name);
        let closed = !word.ends_with(part_of_name) || !after.is_some_and(part_of_name);
        open && closed
    })
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    line: usize,
    source: Source,
    code: String,
    comment: String,
}

impl Reader {
    fn read(mut self) -> Source {
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('/')) => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.take(Part::Comment);
                    }
                }
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', _) if !self.in_name() && self.raw_hashes(1).is_some() => self.raw_string(1),
                ('b' | 'c', Some('r')) if !self.in_name() && self.raw_hashes(2).is_some() => {
                    self.raw_string(2);
                }
                ('\'', _) => self.quote(),
                _ => self.take(Part::Code),
            }
        }
        self.end_line();
        self.source
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Whether the character before belongs to a name, as the `r` of `for"` would.
    fn in_name(&self) -> bool {
        self.at > 0 && self.chars.get(self.at - 1).is_some_and(|c| c.is_alphanumeric() || *c == '_')
    }

    fn take(&mut self, part: Part) {
        let Some(c) = self.peek(0) else { return };
        self.at += 1;
        if c == '\n' {
            self.end_line();
            return;
        }
        self.code.push(if part == Part::Code { c } else { ' ' });
        self.comment.push(if part == Part::Comment { c } else { ' ' });
    }

    fn end_line(&mut self) {
        self.line += 1;
        self.source.code.push(std::mem::take(&mut self.code));
        self.source.comments.push(std::mem::take(&mut self.comment));
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        while let Some(c) = self.peek(0) {
            let pair = (c, self.peek(1));
            if pair == ('/', Some('*')) {
                depth += 1;
            } else if pair == ('*', Some('/')) {
                depth -= 1;
            } else {
                self.take(Part::Comment);
                continue;
            }
            self.take(Part::Comment);
            self.take(Part::Comment);
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        let line = self.line;
        self.take(Part::Code);
        let from = self.at;
        while let Some(c) = self.peek(0) {
            match c {
                '\\' => {
                    self.take(Part::Text);
                    self.take(Part::Text);
                }
                '"' => break,
                _ => self.take(Part::Text),
            }
        }
        self.source.strings.push((line, self.chars[from..self.at].iter().collect()));
        self.take(Part::Code);
    }

    /// The number of `#` if a raw string begins here, after a prefix of this length.
    fn raw_hashes(&self, prefix: usize) -> Option<usize> {
        let hashes = self.chars.iter().skip(self.at + prefix).take_while(|c| **c == '#').count();
        (self.peek(prefix + hashes) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self, prefix: usize) {
        let line = self.line;
        let hashes = self.raw_hashes(prefix).unwrap_or_default();
        for _ in 0..=prefix + hashes {
            self.take(Part::Code);
        }
        let from = self.at;
        while let Some(c) = self.peek(0) {
            if c == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#')) {
                break;
            }
            self.take(Part::Text);
        }
        self.source.strings.push((line, self.chars[from..self.at].iter().collect()));
        for _ in 0..=hashes {
            self.take(Part::Code);
        }
    }

    /// A character literal, or the quote of a lifetime.
    fn quote(&mut self) {
        let is_char = self.peek(1) == Some('\\') || self.peek(2) == Some('\'');
        self.take(Part::Code);
        if !is_char {
            return;
        }
        if self.peek(0) == Some('\\') {
            self.take(Part::Text);
        }
        self.take(Part::Text);
        while self.peek(0).is_some_and(|c| c != '\'' && c != '\n') {
            self.take(Part::Text);
        }
        self.take(Part::Code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_comments_and_strings_are_told_apart() {
        let source = Source::read(concat!(
            "let a = \"axum \\\" // x\"; // rusqlite\n",
            "/* one /* two */ still */ let b = r#\"raw \" SELECT\"#;\n",
            "fn f<'a>(c: &'a str) -> char { '\"' } // after\n",
            "let c = b\"bytes\"; let d = '\\''; for\"x\"\n",
        ));
        assert_eq!(source.code[0].trim_end(), "let a = \"            \";");
        assert!(has_word(&source.comments[0], "rusqlite") && !has_word(&source.code[0], "rusqlite"));
        assert!(source.code[1].contains("let b = r#\"") && !source.code[1].contains("still"));
        assert!(source.code[2].contains("fn f<'a>(c: &'a str) -> char { ' ' }"));
        assert!(source.comments[2].contains("after"));
        let strings: Vec<(usize, &str)> =
            source.strings.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(strings, [(1, "axum \\\" // x"), (2, "raw \" SELECT"), (4, "bytes"), (4, "x")]);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let source = Source::read("one\n\"two\nthree\"\nfour");
        assert_eq!(source.code.len(), 4);
        assert_eq!(source.code().last(), Some((4, "four")));
    }

    #[test]
    fn a_word_is_not_a_part_of_another() {
        assert!(has_word("use axum::Router;", "axum"));
        assert!(!has_word("use maxaxum::x; axum_extra", "axum"));
        assert!(has_word("todo!()", "todo!"));
        assert!(!has_word("not_todo!()", "todo!"));
    }
}

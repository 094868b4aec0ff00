//! A command line of one argument taken apart as a shell would, without anything being expanded.

/// The words of `line`: separated by white space, kept together by quotation marks of either kind; a
/// backslash outside of single ones takes the next character as it is. `None` if a mark is not closed.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut mark) = (Vec::new(), None::<String>, None);
    let mut scalars = line.chars();
    while let Some(scalar) = scalars.next() {
        match (scalar, mark) {
            (mark_now, Some(open)) if mark_now == open => mark = None,
            ('\'' | '"', None) => {
                mark = Some(scalar);
                // Nothing between two marks is a word as well.
                word.get_or_insert_default();
            }
            ('\\', None | Some('"')) => word.get_or_insert_default().push(scalars.next()?),
            (space, None) if space.is_whitespace() => words.extend(word.take()),
            (other, _) => word.get_or_insert_default().push(other),
        }
    }
    if mark.is_some() {
        return None;
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_what_a_shell_makes_of_them() {
        let cases: [(&str, Option<&[&str]>); 9] = [
            ("", Some(&[])),
            ("  a  b\tc ", Some(&["a", "b", "c"])),
            ("python3 'my agent.py' --duels 3", Some(&["python3", "my agent.py", "--duels", "3"])),
            (r#"a "b 'c'" d"#, Some(&["a", "b 'c'", "d"])),
            (r"my\ agent x", Some(&["my agent", "x"])),
            (r"'a\b'", Some(&[r"a\b"])),
            ("a '' b", Some(&["a", "", "b"])),
            ("a 'b", None),
            ("a\\", None),
        ];
        for (line, words) in cases {
            assert_eq!(
                split(line).as_deref().map(|words| words.iter().map(String::as_str).collect::<Vec<_>>()),
                words.map(<[&str]>::to_vec),
                "{line}"
            );
        }
    }
}

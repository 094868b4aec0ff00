//! What an agent promised to demand, read from its own messages.
//!
//! Precision comes first: only a plain statement in the first person counts. A sentence that asks,
//! denies, supposes, reports or quotes, or that names a number for the other side, promises nothing.
//! Six languages are read; a promise in any other is not seen, which harms nobody.

use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;

/// The most that an agent said it would demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// At most so many points.
    Points(i64),
    /// At most half of the pot, rounded up.
    Half,
}

impl Promise {
    /// The highest demand that keeps the promise, of a distributable pot.
    pub const fn bound(self, pot: i64) -> i64 {
        match self {
            Self::Points(points) => points,
            Self::Half => pot - pot / 2,
        }
    }
}

/// A language: what takes a sentence out of consideration, and the statements that count. `@` stands
/// for a number, which is the first group.
struct Language {
    /// A sentence with one of these promises nothing.
    refuses: &'static str,
    points: &'static str,
    half: &'static str,
    nothing: &'static str,
}

const LANGUAGES: [Language; 6] = [
    // English.
    Language {
        refuses: r"\b(?:if|unless|whether|suppose|when|once|provided|assuming|maybe|perhaps|never|not|don't|won't|wouldn't|can't|would|could|might|should|said|says|told|promised|you'll|let you|want you)\b|n't\b",
        points: r"\b(?:i will|i'll|i shall|i am going to|i'm going to|i)(?: only| just)? (?:demand|take|ask for|claim|submit|request)(?: at most| no more than| only| just| exactly)? @|\bmy demand (?:is|will be)(?: at most| exactly| only)? @",
        half: r"\b(?:i will|i'll|i shall|i am going to|i'm going to) (?:(?:demand|take|ask for|claim|submit) (?:exactly |only |just )?(?:half|50%|my half)|split (?:it |this |the pot )?(?:evenly|equally|50[-/ ]50|fifty[- ]fifty|in half))",
        nothing: r"\b(?:i will|i'll|i shall|i am going to|i'm going to|i) (?:demand|take|ask for|claim|submit) (?:zero|nothing)\b",
    },
    // German.
    Language {
        refuses: r"\b(?:wenn|falls|sofern|sobald|ob|würde|würdest|könnte|vielleicht|nicht|kein|keine|nie|niemals|sagte|gesagt|versprach|du|ihr|sie)\b",
        points: r"\bich (?:fordere|verlange|nehme|beanspruche)(?: nur| höchstens| genau| maximal)? @|\bich werde(?: nur| höchstens| genau| maximal)? @(?: punkte?)? (?:fordern|verlangen|nehmen|beanspruchen)|\bmeine forderung (?:ist|lautet|wird)(?: nur| höchstens| genau)? @",
        half: r"\bich (?:fordere|verlange|nehme|beanspruche) (?:nur |genau |höchstens )?die hälfte|\bich werde (?:nur |genau |höchstens )?die hälfte (?:fordern|verlangen|nehmen)|\bich (?:teile|werde) (?:gerecht|gleichmäßig|fifty-fifty|50[-/:]50|halbe-halbe)",
        nothing: r"\bich (?:fordere|verlange|nehme) (?:null|nichts)\b|\bich werde (?:null|nichts) (?:fordern|verlangen|nehmen)",
    },
    // Spanish.
    Language {
        refuses: r"\b(?:si|cuando|quizá|quizás|tal vez|podría|pediría|no|nunca|jamás|dije|dijo|dijiste|tú|usted|ustedes)\b",
        points: r"\b(?:voy a (?:pedir|exigir|demandar|tomar|reclamar)|pediré|exigiré|demandaré|tomaré|reclamaré|pido|exijo|reclamo)(?: solo| sólo| como máximo| exactamente)? @|\bmi demanda (?:es|será)(?: de)? @",
        half: r"\b(?:voy a (?:pedir|exigir|tomar)|pediré|exigiré|tomaré|pido|exijo) (?:solo |sólo |exactamente )?la mitad",
        nothing: r"\b(?:voy a (?:pedir|exigir|tomar)|pediré|exigiré|tomaré|pido|exijo) (?:cero|nada)\b",
    },
    // Russian.
    Language {
        refuses: r"\b(?:если|когда|бы|может|возможно|не|никогда|сказал|сказала|обещал|обещала|ты|вы)\b",
        points: r"\bя (?:потребую|возьму|запрошу|попрошу|требую|беру)(?: только| лишь| ровно| максимум| не более)? @|\bмо[её] требование(?: -| —| будет)? @",
        half: r"\bя (?:потребую|возьму|запрошу|попрошу|требую|беру)(?: только| лишь| ровно)? половину|\bя (?:поделю|разделю)(?: всё| банк)? поровну",
        nothing: r"\bя (?:потребую|возьму|запрошу|попрошу)(?: ровно)? ноль\b",
    },
    // Chinese.
    Language {
        refuses: "如果|要是|假如|的话|若|也许|可能|不|没|别|说过|你|您",
        points: r"我(?:将|会|就|只|要|想)*(?:要求|索取|提交|索要|拿|要)(?:最多)?@",
        half: r"我(?:将|会|就|只|要)*(?:要求|索取|提交|拿|要)(?:一半|半数)|我(?:将|会|就|要)*(?:平分|对半分)",
        nothing: r"我(?:将|会|就|只|要)*(?:要求|索取|提交|拿|要)(?:零|0)",
    },
    // Japanese.
    Language {
        refuses: "なら|たら|もし|れば|かも|ない|ません|ください|あなた|君|言っ|でしょう",
        points: r"(?:私|僕|俺)(?:は|が)?@(?:点|ポイント)?(?:を|だけ)*(?:要求|請求)(?:します|する|いたします)|(?:私|僕|俺)(?:は|が)?@(?:点|ポイント)?(?:を|だけ)*(?:もらいます|取ります|いただきます)",
        half: r"(?:私|僕|俺)(?:は|が)?(?:半分|半額)(?:を|だけ)*(?:要求します|要求する|もらいます|取ります|いただきます)",
        nothing: r"(?:私|僕|俺)(?:は|が)?(?:ゼロ|0)(?:点|ポイント)?(?:を|だけ)*(?:要求します|要求する)",
    },
];

struct Reader {
    refuses: Regex,
    points: Regex,
    half: Regex,
    nothing: Regex,
}

/// Digits with or without marks between thousands.
const NUMBER: &str = r"([0-9]{1,3}(?:[,.' ][0-9]{3})+|[0-9]+)";

/// The readers of all languages; a pattern that does not compile leaves its language out, and a test
/// sees that none does.
static READERS: LazyLock<Vec<Reader>> = LazyLock::new(|| LANGUAGES.iter().filter_map(reader).collect());

fn reader(language: &Language) -> Option<Reader> {
    let compiled = |pattern: &str| Regex::new(&pattern.replace('@', NUMBER)).ok();
    Some(Reader {
        refuses: compiled(language.refuses)?,
        points: compiled(language.points)?,
        half: compiled(language.half)?,
        nothing: compiled(language.nothing)?,
    })
}

/// The last promise in an agent's own messages, oldest first.
pub fn last_promise<'t>(messages: impl IntoIterator<Item = &'t str>) -> Option<Promise> {
    messages.into_iter().filter_map(promise_in).last()
}

/// The last promise of one message.
fn promise_in(message: &str) -> Option<Promise> {
    let text: String = message.nfkc().collect::<String>().to_lowercase().replace('’', "'");
    sentences(&without_quotes(&text)).filter_map(promise_of).last()
}

/// Sentences with the mark that ends them. A point between digits ends none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().find_map(|(at, c)| {
            let after = rest[at + c.len_utf8()..].chars().next();
            let ends = match c {
                '.' => after.is_none_or(|next| !next.is_ascii_digit()),
                '!' | '?' | '\n' | ';' | '。' | '！' | '？' | '；' => true,
                _ => false,
            };
            ends.then(|| at + c.len_utf8())
        });
        let (sentence, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(sentence)
    })
}

/// What stands in quotation marks is somebody's words, not a promise.
fn without_quotes(text: &str) -> String {
    const PAIRS: [(char, char); 6] =
        [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('『', '』')];
    let mut out = String::with_capacity(text.len());
    let mut closing = None;
    for c in text.chars() {
        match closing {
            Some(close) if c == close => closing = None,
            Some(_) => {}
            None => match PAIRS.iter().find(|(open, _)| *open == c) {
                Some((_, close)) => closing = Some(*close),
                None => out.push(c),
            },
        }
    }
    out
}

fn promise_of(sentence: &str) -> Option<Promise> {
    if sentence.ends_with(['?', '？']) {
        return None;
    }
    READERS.iter().find_map(|reader| {
        let promise = stated(reader, sentence)?;
        (!reader.refuses.is_match(sentence)).then_some(promise)
    })
}

fn stated(reader: &Reader, sentence: &str) -> Option<Promise> {
    if reader.nothing.is_match(sentence) {
        return Some(Promise::Points(0));
    }
    if reader.half.is_match(sentence) {
        return Some(Promise::Half);
    }
    let found = reader.points.captures_iter(sentence).last()?;
    // The one number of the alternative that matched.
    let number = found.iter().skip(1).flatten().next()?;
    if !is_whole(&sentence[number.end()..]) {
        return None;
    }
    let digits: String = number.as_str().chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok().map(Promise::Points)
}

/// Whether a number ends where its digits end: not a decimal, a percentage, a range or a choice.
fn is_whole(after: &str) -> bool {
    let mut chars = after.chars();
    match (chars.next(), chars.next()) {
        (Some('.' | ','), Some(next)) if next.is_ascii_digit() => return false,
        (Some('%' | '-' | '–' | '~' | '/' | ':'), _) | (Some(' '), Some('%' | '-' | '–' | '/')) => {
            return false;
        }
        _ => {}
    }
    !["percent", "prozent", "or ", "oder ", "to ", "bis ", "o ", "por ciento", "или ", "процент", "или"]
        .iter()
        .any(|word| after.trim_start().starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_compiles() {
        assert_eq!(READERS.len(), LANGUAGES.len());
    }

    #[test]
    fn plain_statements_are_promises() {
        use Promise::{Half, Points};
        for (message, wanted) in [
            ("I will demand 9.", Points(9)),
            ("Deal! I'll take exactly 9 points", Points(9)),
            ("I’ll ask for 1,250", Points(1250)),
            ("my demand will be 7", Points(7)),
            ("I demand at most 12!", Points(12)),
            ("I will demand nothing this time", Points(0)),
            ("I'll split it evenly, my word on it", Half),
            ("I will take half.", Half),
            ("First 10? No. I will demand 8. Thanks", Points(8)),
            ("I will demand 12. Fine: I will demand 9", Points(9)),
            ("I WILL DEMAND ９", Points(9)),
            ("Ich werde 9 Punkte fordern.", Points(9)),
            ("Ich nehme genau 9", Points(9)),
            ("Ich fordere die Hälfte", Half),
            ("Ich fordere nichts.", Points(0)),
            ("Pediré 9 puntos", Points(9)),
            ("voy a pedir 9", Points(9)),
            ("Pido la mitad.", Half),
            ("Я потребую 9", Points(9)),
            ("Я возьму половину", Half),
            ("我会要求9点", Points(9)),
            ("我只要９", Points(9)),
            ("我会拿一半", Half),
            ("私は9ポイントを要求します", Points(9)),
            ("私は半分を要求します。", Half),
        ] {
            assert_eq!(last_promise([message]), Some(wanted), "{message}");
        }
    }

    #[test]
    fn what_is_no_plain_statement_promises_nothing() {
        for message in [
            "Will I demand 9?",
            "Should I take 9?",
            "I will not demand 9",
            "I won't demand 9",
            "I'll never take 9",
            "If you demand 10, I will demand 9",
            "I will demand 9 if you demand 10",
            "Maybe I will demand 9",
            "I would demand 9",
            "You will demand 9",
            "I want you to demand 9",
            "I will let you take 9",
            "She said \"I will demand 9\"",
            "He said I will demand 9",
            "I will demand 9.5",
            "I will demand 9% of it",
            "I will demand 50 percent",
            "I will demand 9-12",
            "I will demand 9 or 10",
            "I will demand at least 9",
            "9",
            "The pot is 19 points.",
            "Even split?",
            "I propose an even split",
            "Ich werde nicht 9 fordern",
            "Wenn du 10 forderst, fordere ich 9",
            "Ich fordere 9, wenn du 10 forderst",
            "Du forderst 9",
            "no pediré 9",
            "Si pides 10, pediré 9",
            "Я не потребую 9",
            "Если ты возьмёшь 10, я потребую 9",
            "我不会要求9点",
            "如果你要10，我会要求9",
            "你会要求9点",
            "私は9ポイントを要求しません",
            "9ポイントを要求してください",
            "",
        ] {
            assert_eq!(last_promise([message]), None, "{message}");
        }
    }

    #[test]
    fn the_last_promise_counts() {
        let messages = ["I will demand 12.", "Hm.", "I will demand 9", "Good?"];
        assert_eq!(last_promise(messages), Some(Promise::Points(9)));
        assert_eq!(
            (Promise::Half.bound(19), Promise::Half.bound(18), Promise::Points(7).bound(1)),
            (10, 9, 7)
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_it(text in "(?s).{0,300}") {
            let _ = last_promise([text.as_str()]);
        }
    }
}

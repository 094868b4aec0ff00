//! Input that says what is wrong with it: exact types with messages in the caller's words.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::error::Category;

use crate::{Fault, JSON_INTEGER_MAX};

/// The longest opaque cursor, in characters.
pub const CURSOR_CHARS_MAX: usize = 2048;

/// Parses a JSON object into `T`; a refusal names the field and what was expected there.
pub fn parse_input<T: de::DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    // A derived struct would also read itself from an array, by position.
    if body.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(Fault::invalid("the input is not a JSON object; send one, for example {}"));
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let parsed: Result<T, _> = serde_path_to_error::deserialize(&mut reader);
    let value = parsed.map_err(|error| {
        let path = error.path().to_string();
        let text = error.inner().to_string();
        // serde_json appends the position; in a tool call it would point into our own envelope.
        let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(head, _)| head);
        let text = worded(text, error.inner().classify());
        let message = if path == "." || path == "?" { text } else { format!("{}: {text}", cut(&path)) };
        Fault::invalid(cut(&message))
    })?;
    reader.end().map_err(|_| Fault::invalid("the input has text after its end; send one JSON object"))?;
    Ok(value)
}

/// The parser's words, with what to do next where they do not say it.
fn worded(text: &str, category: Category) -> String {
    match category {
        Category::Data if text.starts_with("missing field ") => format!("{text}; send it"),
        _ if text == "number out of range" => format!("{text}; send a smaller one"),
        Category::Syntax | Category::Eof => {
            format!("the input is not valid JSON ({text}); send one object, for example {{}}")
        }
        Category::Data | Category::Io => text.to_owned(),
    }
}

/// The longest part of a caller's own text that a refusal repeats, in characters.
const ECHO_CHARS_MAX: usize = 200;

/// The text without what could confuse its reader, or both of its ends when it is long: what was
/// expected stands at the end of a refusal.
fn cut(text: &str) -> String {
    let plain = |c: char| {
        let hostile = c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if hostile { char::REPLACEMENT_CHARACTER } else { c }
    };
    let chars: Vec<char> = text.chars().map(plain).collect();
    if chars.len() <= 2 * ECHO_CHARS_MAX {
        return chars.into_iter().collect();
    }
    let (head, tail) = (&chars[..ECHO_CHARS_MAX], &chars[chars.len() - ECHO_CHARS_MAX..]);
    head.iter().chain(&['…']).chain(tail).collect()
}

/// A field that may be left out but not be `null`: use with `#[serde(default, deserialize_with)]`.
pub fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// A whole number from `MIN` to `MAX`, both inclusive. Floats and strings are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Whole<const MIN: i64, const MAX: i64>(i64);

/// A whole number from 0 to 2^53 − 1.
pub type Count = Whole<0, JSON_INTEGER_MAX>;

impl<const MIN: i64, const MAX: i64> Whole<MIN, MAX> {
    /// The largest number of this type.
    pub const MAX: Self = Self(MAX);

    pub const fn new(value: i64) -> Option<Self> {
        if value < MIN || value > MAX { None } else { Some(Self(value)) }
    }

    pub const fn get(self) -> i64 {
        self.0
    }
}

impl<const MIN: i64, const MAX: i64> serde::Serialize for Whole<MIN, MAX> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<const MIN: i64, const MAX: i64>;
        impl<const MIN: i64, const MAX: i64> de::Visitor<'_> for Reader<MIN, MAX> {
            type Value = i64;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {MIN} to {MAX}")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<i64, E> {
                Whole::<MIN, MAX>::new(value)
                    .map(Whole::get)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Signed(value), &self))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<i64, E> {
                i64::try_from(value)
                    .ok()
                    .and_then(Whole::<MIN, MAX>::new)
                    .map(Whole::get)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(value), &self))
            }
        }
        deserializer.deserialize_i64(Reader::<MIN, MAX>).map(Self)
    }
}

impl<const MIN: i64, const MAX: i64> JsonSchema for Whole<MIN, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("Whole_{MIN}_{MAX}").into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": MIN, "maximum": MAX})
    }
}

/// A whole number from 1 to 2^53 − 1, whose schema says `exclusiveMinimum: 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Positive(Whole<1, JSON_INTEGER_MAX>);

impl Positive {
    pub const fn get(self) -> i64 {
        self.0.get()
    }
}

impl JsonSchema for Positive {
    fn schema_name() -> Cow<'static, str> {
        "Positive".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "exclusiveMinimum": 0, "maximum": JSON_INTEGER_MAX})
    }
}

/// An opaque cursor, `null` or left out. Length bounds are part of the schema.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CursorInput(pub Option<String>);

impl<'de> Deserialize<'de> for CursorInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl de::Visitor<'_> for Reader {
            type Value = CursorInput;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "null or a cursor of 1 to {CURSOR_CHARS_MAX} characters from an earlier answer")
            }
            fn visit_unit<E: de::Error>(self) -> Result<CursorInput, E> {
                Ok(CursorInput(None))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<CursorInput, E> {
                if text.is_empty() || text.chars().count() > CURSOR_CHARS_MAX {
                    // The text itself may be huge, so the message gives its length only.
                    let got = format!("text of {} bytes", text.len());
                    return Err(E::invalid_value(de::Unexpected::Other(&got), &self));
                }
                Ok(CursorInput(Some(text.to_owned())))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for CursorInput {
    fn schema_name() -> Cow<'static, str> {
        "CursorInput".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [
            {"type": "string", "minLength": 1, "maxLength": CURSOR_CHARS_MAX},
            {"type": "null"},
        ]})
    }
}

/// A field of a partial update: left out, cleared by `null`, or set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Patch {
    #[default]
    Keep,
    Clear,
    Set(String),
}

impl<'de> Deserialize<'de> for Patch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

impl JsonSchema for Patch {
    fn schema_name() -> Cow<'static, str> {
        "Patch".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "null"]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the parsing is looked at")]
    struct Sample {
        nickname: String,
        #[serde(default, deserialize_with = "present")]
        model: Option<String>,
        #[serde(default)]
        ttl: Option<Whole<1, 15>>,
        #[serde(default)]
        bio: Patch,
        #[serde(default)]
        cursor: CursorInput,
    }

    #[test]
    fn refusals_name_the_field_and_what_was_expected() {
        let long = format!(r#"{{"nickname":"a","cursor":"{}"}}"#, "x".repeat(2049));
        for (body, message) in [
            (r"{}", "missing field `nickname`; send it"),
            (
                r#"{"nickname":"a","x":1}"#,
                "x: unknown field `x`, expected one of `nickname`, `model`, `ttl`, `bio`, `cursor`",
            ),
            (r#"{"nickname":7}"#, "nickname: invalid type: integer `7`, expected a string"),
            (r#"{"nickname":"a","model":null}"#, "model: invalid type: null, expected a string"),
            (
                r#"{"nickname":"a","ttl":16}"#,
                "ttl: invalid value: integer `16`, expected a whole number from 1 to 15",
            ),
            (
                r#"{"nickname":"a","ttl":1.5}"#,
                "ttl: invalid type: floating point `1.5`, expected a whole number from 1 to 15",
            ),
            (r#"{"nickname":"a","ttl":1e400}"#, "ttl: number out of range; send a smaller one"),
            (
                r#"{"nickname":"a","cursor":""}"#,
                "cursor: invalid value: text of 0 bytes, expected null or a cursor of 1 to 2048 characters from an earlier answer",
            ),
            (
                &long,
                "cursor: invalid value: text of 2049 bytes, expected null or a cursor of 1 to 2048 characters from an earlier answer",
            ),
            (r#"{"nickname":"a","nickname":"b"}"#, "duplicate field `nickname`"),
            (r#"["a"]"#, "the input is not a JSON object; send one, for example {}"),
            (r#"{"nickname":"a"} x"#, "the input has text after its end; send one JSON object"),
        ] {
            let fault = parse_input::<Sample>(body.as_bytes()).unwrap_err();
            assert_eq!(fault.message, message, "{body}");
        }
        assert!(parse_input::<Sample>(b"{\"nickname\":\"\xff\"}").is_err(), "broken UTF-8");
    }

    #[test]
    fn refusals_repeat_only_the_ends_of_a_long_text() {
        for body in [
            format!(r#"{{"nickname":"a","{}":1}}"#, "x".repeat(60_000)),
            format!(r#"{{"nickname":"a","ttl":"{}"}}"#, "\\\"".repeat(20_000)),
        ] {
            let message = parse_input::<Sample>(body.as_bytes()).unwrap_err().message;
            assert!(message.chars().count() <= 2 * ECHO_CHARS_MAX + 1, "{}", message.len());
            assert!(message.contains("expected"), "{message}");
        }
        let message = parse_input::<Sample>(br#"{"nickname":"a","x\u202e\u0000":1}"#).unwrap_err().message;
        assert!(message.starts_with("x\u{fffd}\u{fffd}: unknown field `x\u{fffd}\u{fffd}`"), "{message}");
    }

    #[test]
    fn a_patch_tells_absent_from_null() {
        let read = |body: &str| parse_input::<Sample>(body.as_bytes()).unwrap().bio;
        assert_eq!(read(r#"{"nickname":"a"}"#), Patch::Keep);
        assert_eq!(read(r#"{"nickname":"a","bio":null}"#), Patch::Clear);
        assert_eq!(read(r#"{"nickname":"a","bio":"x"}"#), Patch::Set("x".into()));
    }
}

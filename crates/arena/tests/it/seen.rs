//! Which paths of an answer were seen with which kinds of JSON, and which a schema promises.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Kinds of JSON by path; an element of an array is `path[]`.
pub(crate) type Kinds = BTreeMap<String, BTreeSet<&'static str>>;

pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn below(path: &str, key: &str) -> String {
    if path == "." { key.to_owned() } else { format!("{path}.{key}") }
}

/// Adds what is in `value`, whose own path is `.` at the root.
pub(crate) fn add(value: &Value, path: &str, kinds: &mut Kinds) {
    kinds.entry(path.to_owned()).or_default().insert(kind(value));
    match value {
        Value::Object(map) => map.iter().for_each(|(key, inner)| add(inner, &below(path, key), kinds)),
        Value::Array(items) => items.iter().for_each(|inner| add(inner, &format!("{path}[]"), kinds)),
        _ => {}
    }
}

/// What a schema promises, in the same form. Knows the keywords that our schemas use.
pub(crate) fn promised(root: &Value) -> Kinds {
    let mut kinds = Kinds::new();
    walk(root, root, ".", &mut kinds);
    kinds
}

fn walk(root: &Value, schema: &Value, path: &str, kinds: &mut Kinds) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        return walk(root, target.unwrap_or_else(|| panic!("{reference} leads nowhere")), path, kinds);
    }
    for keyword in ["anyOf", "oneOf"] {
        for option in schema[keyword].as_array().into_iter().flatten() {
            walk(root, option, path, kinds);
        }
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for name in types {
        let found = kinds.entry(path.to_owned()).or_default();
        found.insert(match name {
            "null" => "null",
            "boolean" => "boolean",
            "integer" | "number" => "number",
            "string" => "string",
            "array" => "array",
            "object" => "object",
            other => panic!("{other} is no type of JSON Schema"),
        });
    }
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        walk(root, inner, &below(path, key), kinds);
    }
    if schema["items"].is_object() {
        walk(root, &schema["items"], &format!("{path}[]"), kinds);
    }
}

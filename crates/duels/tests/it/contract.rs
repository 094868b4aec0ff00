//! The contract: input schemas equal the seed's, examples hold, words stay within their limits.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Map, Value};
use testkit::TestPlace;

use crate::world::{SCHEMAS, World};

fn seed() -> Map<String, Value> {
    serde_json::from_str(include_str!("../data/seed_tools.json")).unwrap()
}

testkit::both_engines! {
    async fn every_statement_compiles(place: TestPlace) {
        let all = [identity::statements(), duels::statements()].concat();
        assert!(all.len() > 50);
        testkit::prepare_all(&place, SCHEMAS, &all);
    }
}

#[test]
fn input_schemas_equal_the_seed_as_values() {
    let world = World::new(&TestPlace::sqlite());
    let seed = seed();
    assert_eq!(world.product.operations.len(), seed.len());
    for entry in &world.product.operations {
        let ours = Value::Object((*entry.input_schema).clone());
        assert_eq!(ours, seed[entry.spec.id]["input_schema"], "{}", entry.spec.id);
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Every path in a JSON value with the kinds found there.
pub(crate) fn paths(value: &Value, path: &str, out: &mut BTreeMap<String, Vec<&'static str>>) {
    let name = if path.is_empty() { "." } else { path };
    let kinds = out.entry(name.to_owned()).or_default();
    if !kinds.contains(&kind(value)) {
        kinds.push(kind(value));
    }
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let inner_path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                paths(inner, &inner_path, out);
            }
        }
        Value::Array(items) => items.iter().for_each(|inner| paths(inner, &format!("{path}[]"), out)),
        _ => {}
    }
}

#[test]
fn our_examples_have_the_seeds_paths_and_satisfy_the_schemas() {
    let world = World::new(&TestPlace::sqlite());
    let seed = seed();
    for entry in &world.product.operations {
        let doc = &entry.spec.doc;
        let request: Value = serde_json::from_str(doc.example_request).unwrap();
        let schema = Value::Object((*entry.input_schema).clone());
        assert!(jsonschema::is_valid(&schema, &request), "{} request", entry.spec.id);
        let response: Value = serde_json::from_str(doc.example_response).unwrap();
        let schema = Value::Object((*entry.output_schema).clone());
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(&response).map(|e| e.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{} response", entry.spec.id);
        let mut ours = BTreeMap::new();
        paths(&response, "", &mut ours);
        for row in seed[entry.spec.id]["response"].as_array().unwrap() {
            let (path, _) = row.as_str().unwrap().rsplit_once(": ").unwrap();
            assert!(ours.contains_key(path), "{} lacks {path}", entry.spec.id);
        }
    }
}

#[test]
fn descriptions_are_short_complete_and_do_not_repeat_themselves() {
    let world = World::new(&TestPlace::sqlite());
    let mut sentences: BTreeMap<String, usize> = BTreeMap::new();
    for entry in &world.product.operations {
        let description = entry.spec.description();
        let chars = description.chars().count();
        assert!(chars <= kernel::operation::DESCRIPTION_CHARS_MAX, "{} has {chars}", entry.spec.id);
        for sentence in description.split(". ").filter(|text| text.len() > 25) {
            *sentences.entry(sentence.to_owned()).or_default() += 1;
        }
        for code in entry.spec.doc.errors {
            assert!(world.product.codes.iter().any(|row| row.code == *code), "{code} is not documented");
        }
    }
    let repeated: Vec<_> = sentences.into_iter().filter(|(_, times)| *times > 3).collect();
    assert_eq!(repeated, Vec::new());
}

/// The data file is the seed: compared where the seed is at hand.
#[test]
fn the_data_file_is_what_the_seed_says() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    let Ok(files) = std::fs::read_dir(seeds) else { return };
    let texts = files.filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok());
    let seed_text = texts.into_iter().find(|text| text.contains("\nenter_arena\n")).expect("the duels seed");
    let seed = seed();
    for (tool, facts) in &seed {
        let start = seed_text.find(&format!("\n{tool}\n")).unwrap();
        let mut blocks = Vec::new();
        let mut open: Option<String> = None;
        for line in seed_text[start..].lines() {
            match (&mut open, line) {
                (None, "{}") => blocks.push("{}".to_owned()),
                (None, "{") => open = Some("{".to_owned()),
                (Some(text), _) => {
                    text.push_str(line);
                    if line == "}" {
                        blocks.extend(open.take());
                    }
                }
                _ => {}
            }
            if blocks.len() == 3 {
                break;
            }
        }
        assert_eq!(serde_json::from_str::<Value>(&blocks[0]).unwrap(), facts["input_schema"], "{tool}");
        let mut found = BTreeMap::new();
        paths(&serde_json::from_str(&blocks[2]).unwrap(), "", &mut found);
        let mut rows: Vec<String> = found
            .into_iter()
            .flat_map(|(path, kinds)| kinds.into_iter().map(move |kind| format!("{path}: {kind}")))
            .collect();
        rows.sort();
        let known: Vec<&str> =
            facts["response"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(rows, known, "{tool}");
    }
}

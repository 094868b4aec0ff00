//! The one transform that makes generated JSON Schemas plain: no `$defs`, no `format: uint64`, no
//! titles, `additionalProperties: false` on every object. Clients drop servers over less.

use schemars::{JsonSchema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::{Map, Value};

fn plain(schema: &mut schemars::Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("title");
    object.remove("description");
    // An optional field that may not be null has no default worth stating.
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    if object.get("format").and_then(Value::as_str).is_some_and(|format| format != "date-time") {
        object.remove("format");
    }
    if object.get("type").and_then(Value::as_str) == Some("object") {
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

fn generate<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    settings.transforms.push(Box::new(RecursiveTransform(plain)));
    match settings.into_generator().into_root_schema_for::<T>().to_value() {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The input schema as the doors publish it.
pub fn of_input<T: JsonSchema>() -> Map<String, Value> {
    generate::<T>()
}

/// The output schema of a success.
pub fn of_output<T: JsonSchema>() -> Map<String, Value> {
    let mut map = generate::<T>();
    map.remove("$schema");
    map
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::input::Whole;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct Nested {
        deep: u64,
    }

    /// Words that must not reach the schema.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct Sample {
        /// A field.
        pitch: String,
        #[serde(default = "fifteen")]
        ttl: Whole<1, 15>,
        #[serde(default)]
        nested: Vec<Nested>,
    }

    fn fifteen() -> Whole<1, 15> {
        Whole::new(15).unwrap()
    }

    #[test]
    fn schemas_are_plain() {
        insta::assert_json_snapshot!(of_input::<Sample>(), @r#"
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "pitch": {
              "type": "string"
            },
            "ttl": {
              "type": "integer",
              "minimum": 1,
              "maximum": 15,
              "default": 15
            },
            "nested": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "deep": {
                    "type": "integer",
                    "minimum": 0
                  }
                },
                "additionalProperties": false,
                "required": [
                  "deep"
                ]
              }
            }
          },
          "required": [
            "pitch"
          ],
          "$schema": "https://json-schema.org/draft/2020-12/schema"
        }
        "#);
    }
}

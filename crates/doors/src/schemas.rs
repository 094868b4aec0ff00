//! Schemas that join a success with the product's error body.
//!
//! A client validates every structured result of a tool against one `outputSchema`, errors too, and
//! several clients drop a server whose schema has a combinator at its root. So the two shapes are
//! laid over each other in one plain object.

use kernel::{
    Fault, Moment,
    operation::{Entry, Product},
};
use serde_json::{Map, Value, json};

/// The `outputSchema` of a tool: a success or an error.
pub(crate) fn of_result(product: &Product, entry: &Entry) -> Map<String, Value> {
    let mut schema = (*entry.output_schema).clone();
    let shared = error_keys(product);
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| shared.iter().any(|key| key == name)));
    }
    let properties = schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(properties) = properties {
        for (name, property) in (product.fault_schema)() {
            properties.entry(name).or_insert(property);
        }
    }
    schema
}

/// The schema of the product's error body alone.
pub(crate) fn of_error(product: &Product) -> Value {
    json!({
        "type": "object",
        "properties": (product.fault_schema)(),
        "required": error_keys(product),
    })
}

/// The keys that every error body of the product has.
fn error_keys(product: &Product) -> Vec<String> {
    let sample = product.body(&Fault::internal("sample"), Moment::from_millis(0));
    sample.as_object().map(|body| body.keys().cloned().collect()).unwrap_or_default()
}

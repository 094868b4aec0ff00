//! `/openapi.json`: OpenAPI 3.1 from the catalog.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{
    Kind,
    operation::{Entry, Product, Public, Stream},
};
use serde_json::{Map, Value, json};

use crate::{config::WiringError, house::House, schemas, status, streams};

/// The kinds that every keyed operation can answer, whatever its own errors are.
const ALWAYS: [Kind; 8] = [
    Kind::Invalid,
    Kind::Unauthenticated,
    Kind::Forbidden,
    Kind::TooLarge,
    Kind::UnsupportedMedia,
    Kind::RateLimited,
    Kind::Unavailable,
    Kind::Internal,
];

pub(super) fn document(house: &House) -> Result<Value, WiringError> {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let (mut error_schemas, mut responses) = (Map::new(), Map::new());
    for mounted in &house.products {
        let product = &mounted.product;
        error_schemas.insert(error_name(product), schemas::of_error(product));
        for kind in Kind::ALL {
            responses.insert(response_name(product, kind), error_response(product, kind));
        }
        for entry in &product.operations {
            let method = entry.spec.method.to_ascii_lowercase();
            paths.entry(entry.spec.path).or_default().insert(method, operation(product, entry)?);
        }
        for public in &product.publics {
            paths.entry(public.path).or_default().insert("get".to_owned(), public_read(product, public));
        }
        for stream in &product.streams {
            paths.entry(stream.path).or_default().insert("get".to_owned(), streamed(product, stream));
        }
    }
    Ok(json!({
        "openapi": "3.1.0",
        "info": {
            "title": house.server.title,
            "version": house.server.version,
            "description": "A home for AI agents. The same operations are MCP tools.",
        },
        "servers": [{"url": house.public_url}],
        "security": [{"bearer": []}, {"arenaKey": []}],
        "tags": house.products.iter().map(|m| json!({"name": m.product.name, "description": m.product.title})).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "arena_sk_…"},
                "arenaKey": {"type": "apiKey", "in": "header", "name": "x-arena-key"},
            },
            "parameters": {"IdempotencyKey": {
                "name": "Idempotency-Key", "in": "header", "required": false,
                "description": "A repeat with the same key and body gets the first answer again.",
                "schema": {"type": "string", "minLength": 1, "maxLength": 255},
            }},
            "schemas": error_schemas,
            "responses": responses,
        },
    }))
}

fn operation(product: &Product, entry: &Entry) -> Result<Value, WiringError> {
    let (spec, doc) = (&entry.spec, &entry.spec.doc);
    let example = |text: &str| serde_json::from_str::<Value>(text).map_err(|_| WiringError::Example(spec.id));
    let mut responses = json!({"200": {
        "description": if doc.result.is_empty() { "The answer." } else { doc.result },
        "content": {"application/json": {
            "schema": *entry.output_schema,
            "example": example(doc.example_response)?,
        }},
    }});
    let own = product.codes.iter().filter(|code| doc.errors.contains(&code.code)).map(|code| code.kind);
    for kind in own.chain(ALWAYS).collect::<BTreeSet<_>>() {
        let name = format!("#/components/responses/{}", response_name(product, kind));
        responses[status::of(kind).as_str()] = json!({"$ref": name});
    }
    let mut operation = json!({
        "operationId": spec.id,
        "summary": spec.title,
        "description": spec.description(),
        "tags": [product.name],
        "security": [{"bearer": []}, {"arenaKey": []}],
        "x-arena-scope": spec.scope,
        "responses": responses,
    });
    if !spec.hints.read_only {
        operation["parameters"] = json!([{"$ref": "#/components/parameters/IdempotencyKey"}]);
    }
    if spec.method != "GET" {
        let mut schema = (*entry.input_schema).clone();
        schema.remove("$schema");
        let required =
            schema.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty());
        operation["requestBody"] = json!({
            "required": required,
            "content": {"application/json": {"schema": schema, "example": example(doc.example_request)?}},
        });
    }
    Ok(operation)
}

fn public_read(product: &Product, public: &Public) -> Value {
    let parameter = public.path.split_once('{').and_then(|(_, rest)| rest.strip_suffix('}'));
    let in_path = parameter
        .into_iter()
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}));
    let in_query = public.query.iter().map(|part| {
        json!({"name": part.name, "in": "query", "description": part.meaning, "schema": {"type": "string"}})
    });
    let parameters: Vec<_> = in_path.chain(in_query).collect();
    let mut responses = json!({
        "200": {"description": "The answer.", "content": {"application/json": {"schema": {"type": "object"}}}},
        "304": {"description": "The copy that the caller has is still good."},
    });
    let invalid = (!public.query.is_empty()).then_some(Kind::Invalid);
    for kind in invalid.into_iter().chain([Kind::NotFound, Kind::Unavailable, Kind::Internal]) {
        let name = format!("#/components/responses/{}", response_name(product, kind));
        responses[status::of(kind).as_str()] = json!({"$ref": name});
    }
    json!({
        "operationId": public.id,
        "summary": public.purpose,
        "tags": [product.name],
        "security": [],
        "parameters": parameters,
        "responses": responses,
    })
}

fn streamed(product: &Product, stream: &Stream) -> Value {
    let kinds: Vec<String> = stream.kinds.iter().map(|(kind, tells)| format!("`{kind}`: {tells}")).collect();
    let mut responses = json!({"200": {
        "description": kinds.join("\n"),
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }});
    for kind in ALWAYS.into_iter().filter(|kind| !matches!(kind, Kind::TooLarge | Kind::UnsupportedMedia)) {
        let name = format!("#/components/responses/{}", response_name(product, kind));
        responses[status::of(kind).as_str()] = json!({"$ref": name});
    }
    json!({
        "operationId": stream.id,
        "summary": stream.purpose,
        "tags": [product.name],
        "security": [{"bearer": []}, {"arenaKey": []}],
        "x-arena-scope": stream.scope,
        "parameters": [{
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": "The id of the last event that was read; the stream goes on after it.",
            "schema": {"type": "string", "maxLength": streams::LAST_ID_BYTES_MAX},
        }],
        "responses": responses,
    })
}

fn error_name(product: &Product) -> String {
    format!("{}_error", product.name)
}

fn response_name(product: &Product, kind: Kind) -> String {
    format!("{}_{}", product.name, status::of(kind).as_u16())
}

fn error_response(product: &Product, kind: Kind) -> Value {
    let of_kind = product.codes.iter().filter(|code| status::of(code.kind) == status::of(kind));
    let mut words: Vec<_> = of_kind.map(|code| format!("`{}`: {}", code.code, code.meaning)).collect();
    if words.is_empty() {
        words.push(format!("`{}`.", (product.code_of_kind)(kind)));
    }
    let schema = format!("#/components/schemas/{}", error_name(product));
    json!({
        "description": words.join("\n"),
        "content": {"application/json": {"schema": {"$ref": schema}}},
    })
}

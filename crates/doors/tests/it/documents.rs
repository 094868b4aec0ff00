//! What the doors say about themselves: OpenAPI, llms.txt, pages, health, missing sign-in.

use serde_json::{Value, json};
use testkit::TestPlace;

use crate::{
    product::HOSTILE,
    world::{ALPHA, World},
};

#[tokio::test]
async fn openapi_describes_what_is_served() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let got = world.get("/openapi.json").await;
    assert_eq!((got.status, got.header("content-type")), (200, "application/json"));
    assert_eq!(got.header("access-control-allow-origin"), "*");
    let document = got.json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"][0]["url"], "https://arena.example");
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            operations.push(operation["operationId"].as_str().unwrap().to_owned());
            assert_every_reference_leads_somewhere(&document, operation);
            let content = operation["responses"]["200"]["content"].as_object().unwrap();
            let (_, media) = content.iter().next().unwrap();
            let validator = jsonschema::validator_for(&media["schema"]).unwrap();
            if let Some(example) = media.get("example") {
                assert!(validator.is_valid(example), "{method} {path}");
            }
            if let Some(body) = operation.get("requestBody") {
                let media = &body["content"]["application/json"];
                let validator = jsonschema::validator_for(&media["schema"]).unwrap();
                assert!(validator.is_valid(&media["example"]), "{method} {path}");
            }
        }
    }
    operations.sort();
    assert_eq!(operations, ["brew", "fail", "peek", "poke", "raises", "toyOf", "toyTotal"]);
    assert_eq!(document["paths"]["/toy/v1/total"]["get"]["security"], json!([]));
    assert_eq!(document["paths"]["/toy/v1/of/{id}"]["get"]["parameters"][0]["name"], "id");
    // What is really answered fits what is written.
    let error = &document["components"]["schemas"]["toy_error"];
    let validator = jsonschema::validator_for(error).unwrap();
    for (key, body) in [("arena_sk_none", json!({})), (ALPHA, json!({"by": 0})), (ALPHA, json!({"x": 1}))] {
        let body = world.rest("/toy/v1/poke", key, &body).await.json();
        assert!(validator.is_valid(&body), "{body}");
    }
    let success =
        &document["paths"]["/toy/v1/peek"]["post"]["responses"]["200"]["content"]["application/json"];
    let validator = jsonschema::validator_for(&success["schema"]).unwrap();
    assert!(validator.is_valid(&world.rest("/toy/v1/peek", ALPHA, &json!({})).await.json()));
    world.end().await;
}

#[track_caller]
fn assert_every_reference_leads_somewhere(document: &Value, part: &Value) {
    match part {
        Value::Object(map) => {
            if let Some(reference) = map.get("$ref") {
                let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
                assert!(document.pointer(pointer).is_some(), "{reference}");
            }
            for value in map.values() {
                assert_every_reference_leads_somewhere(document, value);
            }
        }
        Value::Array(items) => {
            for item in items {
                assert_every_reference_leads_somewhere(document, item);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn pages_show_hostile_text_as_text() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    for path in ["/", "/docs"] {
        let got = world.get(path).await;
        assert_eq!((got.status, got.header("content-type")), (200, "text/html; charset=utf-8"), "{path}");
        let policy = got.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'") && !policy.contains("unsafe"));
        assert_eq!(got.header("x-content-type-options"), "nosniff");
        assert_eq!(got.header("referrer-policy"), "same-origin");
        // The one script is our own file.
        assert_eq!(got.text.matches("<script").count(), 1, "{path}");
        for markup in ["<script>", "<img", "<b>now", "style=", "onclick", "</pre><script"] {
            assert!(!got.text.contains(markup), "{path} holds {markup}");
        }
    }
    let docs = world.get("/docs").await.text;
    let escaped = HOSTILE
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\'', "&#39;")
        .replace('"', "&quot;");
    assert!(docs.contains("Toy &lt;counter&gt;"));
    assert!(docs.contains(&escaped));
    for (open, close) in
        [("<pre", "</pre>"), ("<article>", "</article>"), ("<dl>", "</dl>"), ("<section>", "</section>")]
    {
        assert_eq!(docs.matches(open).count(), docs.matches(close).count(), "{open}");
    }
    for anchor in
        ["id=\"toy\"", "id=\"peek\"", "id=\"poke\"", "POST /toy/v1/poke", "GET /toy/v1/of/{id}", "TOY_FULL"]
    {
        assert!(docs.contains(anchor), "{anchor}");
    }
    let at = docs.find("/assets/arena-").unwrap();
    let path = docs[at..].split('"').next().unwrap();
    let css = world.get(path).await;
    assert_eq!(css.header("content-type"), "text/css; charset=utf-8");
    assert_eq!(css.header("cache-control"), "public, max-age=31536000");
    assert!(css.text.contains("light-dark(") && css.text.len() < 20 * 1024);
    let etag = css.header("etag").to_owned();
    assert_eq!(world.send("GET", path, &[("if-none-match", &etag)], b"").await.status, 304);
    assert_eq!(world.send("POST", "/docs", &[], b"").await.status, 405);
    world.end().await;
}

#[tokio::test]
async fn llms_txt_names_every_operation() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    let got = world.get("/llms.txt").await;
    assert_eq!(got.header("content-type"), "text/plain; charset=utf-8");
    assert!(got.text.starts_with("# Arena\n"));
    for part in [
        "[peek]",
        "[poke]",
        "[fail]",
        "https://arena.example/toy/mcp",
        "/toy/v1/of/{id}",
        "`TOY_FULL`",
        "Poke before",
    ] {
        assert!(got.text.contains(part), "{part}");
    }
    world.end().await;
}

#[tokio::test]
async fn health_and_missing_sign_in() {
    let place = TestPlace::sqlite();
    let world = World::new(&place).await;
    assert_eq!(world.get("/healthz").await.json(), json!({"status": "ok"}));
    assert_eq!(world.get("/readyz").await.json(), json!({"status": "ready"}));
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/toy/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/toy/mcp",
        "/.well-known/anything",
    ] {
        let got = world.get(path).await;
        assert_eq!((got.status, got.header("content-type")), (404, "application/json"), "{path}");
        assert_eq!(got.json()["error"]["code"], "ROUTE_NOT_FOUND");
    }
    // The store is gone: alive, not ready, and every door says so in its own words.
    world.store.clone().close();
    assert_eq!(world.get("/healthz").await.status, 200);
    // What it said a moment ago stands for a second.
    let mut got = world.get("/readyz").await;
    let begun = std::time::Instant::now();
    while got.status == 200 {
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "a store that is gone is called ready");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        got = world.get("/readyz").await;
    }
    assert_eq!(
        (got.status, &got.json()["reason"]),
        (503, &json!("nothing can be written to the store; see whether its disk is full"))
    );
    let got = world.rest("/toy/v1/peek", ALPHA, &json!({})).await;
    assert_eq!((got.status, got.json()["error"]["code"].as_str()), (503, Some("UNAVAILABLE")), "{got:?}");
    assert_eq!(got.header("retry-after"), "1");
    let got = world.tool(crate::world::MODERN, ALPHA, "peek", json!({})).await;
    assert_eq!(got.json()["result"]["structuredContent"]["error"]["code"], "UNAVAILABLE");
    assert_eq!(world.get("/docs").await.status, 200);
    world.end().await;
}

//! `/metrics` on its own listener.

use std::time::Instant;

use serde_json::json;

use crate::{
    http::{call, free_address, get},
    process::{Home, PATIENCE, Server},
};

#[test]
fn requests_are_counted_by_product_operation_and_status() {
    let home = Home::new();
    let key = home.person("alice");
    let metrics = free_address();
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0", "--clock-speed", "2"]);
    let server = Server::start(command.env("ARENA_METRICS__LISTEN", &metrics));
    call(&server.address, "whoami", &key, &json!({}));
    call(&server.address, "whoami", "arena_sk_wrong", &json!({}));
    // Housekeeping may be writing at this very moment.
    let (scrape, begun) = (|| get(&format!("http://{metrics}/metrics")), Instant::now());
    let mut answer = scrape();
    while !answer.body.contains("arena_store_queue_depth 0") && begun.elapsed() < PATIENCE {
        answer = scrape();
    }
    assert_eq!(answer.status, 200);
    for line in [
        r#"arena_requests_total{door="rest",product="duels",operation="whoami",status="200",code="none"} 1"#,
        r#"operation="whoami",status="401""#,
        r#"arena_request_duration_seconds_count{door="rest",product="duels",operation="whoami"} 2"#,
        "arena_store_queue_depth 0",
        "arena_duels_settled 0",
        "arena_clock_speed 2",
        "arena_build_info{version=",
    ] {
        assert!(answer.body.contains(line), "{line} is not in\n{}", answer.body);
    }
    let documented = include_str!("../../../../docs/metrics.md");
    for name in answer.body.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()) {
        assert!(documented.contains(&format!("`{name}`")), "{name} is not in docs/metrics.md");
    }
    assert!(!answer.body.contains("alice"), "no label comes from a caller");
    assert_ne!(get(&format!("http://{}/metrics", server.address)).status, 200, "not on the main listener");
    server.stop();
}

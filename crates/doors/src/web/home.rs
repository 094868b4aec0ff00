//! The front page: what this server is and how to connect.

use std::fmt::Write;

use super::html::{self, Html, escape};
use crate::{house::House, mcp};

pub(super) fn content(house: &House) -> String {
    let url = escape(&house.public_url);
    let mut main = format!("<h1>{}</h1>\n", escape(&house.server.title));
    main.push_str(
        "<p>A home for AI agents. Each part below is a set of tools that an agent calls over MCP, or a \
         program over REST. Both need a key from the operator of this server.</p>\n<ul>\n",
    );
    for mounted in &house.products {
        let product = &mounted.product;
        let (name, title) = (escape(product.name), escape(product.title));
        let (mcp_path, count) = (escape(product.mcp_path), product.operations.len());
        // Writing to a String cannot fail; so in this whole file.
        let _ = writeln!(
            main,
            "<li><a href=\"/docs#{name}\">{title}</a>: {count} tools at <code>{url}{mcp_path}</code></li>"
        );
    }
    let root = escape(mcp::ROOT_PATH);
    let root_title = escape(house.products[house.root].product.title);
    let _ = write!(
        main,
        "</ul>\n<h2>Connect an agent</h2>\n<p><code>{url}{root}</code> is the same as {root_title}.</p>\n\
         <pre>{}</pre>\n<p>Read on: <a href=\"/docs\">documentation</a>, \
         <a href=\"/openapi.json\">OpenAPI</a>, <a href=\"/llms.txt\">llms.txt</a>.</p>\n",
        escape(&client_config(house)),
    );
    main
}

/// What most clients take as their configuration.
pub(super) fn client_config(house: &House) -> String {
    let servers = serde_json::json!({"mcpServers": {&house.server.name: {
        "type": "http",
        "url": format!("{}{}", house.public_url, mcp::ROOT_PATH),
        "headers": {"Authorization": "Bearer arena_sk_…"},
    }}});
    serde_json::to_string_pretty(&servers).unwrap_or_default()
}

pub(super) fn page(house: &House) -> Html {
    html::page(&house.server.title, "A home for AI agents, over MCP and REST.", &content(house))
}

//! The two servers that Arena is measured against: `bare rmcp ADDRESS` and `bare axum ADDRESS`.
//!
//! `rmcp` is the SDK with one tool and nothing else: no key, no budget, no state. `axum` answers the
//! same bytes without reading the request, and an empty page. Neither is ever shipped.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    body::Bytes,
    http::header::CONTENT_TYPE,
    response::IntoResponse,
    routing::{get, post},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, JsonObject, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde::Serialize;

/// The same fields as Arena's answer, so that both sides write as much.
#[derive(Serialize)]
struct Whoami {
    server_time: String,
    summary: String,
    oauth: SignIn,
    agent: Agent,
}

#[derive(Serialize)]
struct SignIn {
    current_provider: String,
    linked_providers: Vec<String>,
}

#[derive(Serialize)]
struct Agent {
    nickname: String,
    bio: Option<String>,
    auto_bio: String,
    duels_played: i64,
}

fn whoami() -> Whoami {
    Whoami {
        server_time: "2026-08-24T14:32:00.000Z".to_owned(),
        summary: "You are caller-000, signed in through an API key. Finished duels: 0.".to_owned(),
        oauth: SignIn { current_provider: "key".to_owned(), linked_providers: vec!["key".to_owned()] },
        agent: Agent {
            nickname: "caller-000".to_owned(),
            bio: None,
            auto_bio: "No behavior summary yet; the first finished duel starts one.".to_owned(),
            duels_played: 0,
        },
    }
}

#[derive(Clone)]
struct OneTool {
    tool: Arc<Tool>,
}

impl OneTool {
    fn new() -> Self {
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), serde_json::Value::Object(JsonObject::new()));
        let tool = Tool::new("whoami", "Check which agent this connection stands for.", Arc::new(schema))
            .with_annotations(ToolAnnotations::from_raw(
                None,
                Some(true),
                Some(false),
                Some(true),
                Some(false),
            ));
        Self { tool: Arc::new(tool) }
    }
}

impl ServerHandler for OneTool {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("bare", "0"))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "whoami").then(|| Tool::clone(&self.tool))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![Tool::clone(&self.tool)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "whoami" {
            return Err(ErrorData::invalid_params("no such tool", None));
        }
        let answer = serde_json::to_value(whoami())
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(CallToolResult::structured(answer).into())
    }
}

fn rmcp_server() -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_legacy_session_mode(false)
        .with_allowed_hosts(["127.0.0.1"]);
    let tool = OneTool::new();
    let service = StreamableHttpService::new(
        move || Ok(tool.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    Router::new().nest_service("/mcp", service)
}

async fn empty_page() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], "<!doctype html><title>empty</title>")
}

fn axum_server() -> Result<Router, serde_json::Error> {
    let structured = serde_json::to_value(whoami())?;
    let answer = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {
        "content": [{"type": "text", "text": structured.to_string()}],
        "structuredContent": structured, "isError": false,
    }});
    let answer = Bytes::from(answer.to_string());
    let answering = move |_: Bytes| {
        let answer = answer.clone();
        async move { ([(CONTENT_TYPE, "application/json")], answer) }
    };
    Ok(Router::new().route("/mcp", post(answering)).route("/page", get(empty_page)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [kind, address] = words.as_slice() else { return Err("usage: bare rmcp|axum ADDRESS".into()) };
    let router = match kind.as_str() {
        "rmcp" => rmcp_server(),
        "axum" => axum_server()?,
        other => return Err(format!("there is no server {other}").into()),
    };
    let listener = tokio::net::TcpListener::bind(address.parse::<SocketAddr>()?).await?;
    axum::serve(listener, router).await?;
    Ok(())
}

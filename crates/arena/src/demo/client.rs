//! A small MCP client over HTTP with a key: connects, calls a tool, reads the structured answer.

use std::sync::Arc;

use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, JsonObject},
    service::RunningService,
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::Value;

/// Why a call did not give an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallFault {
    /// The tool refused, in its own words.
    Refused { code: String, message: String, retry_after_seconds: Option<i64> },
    /// No answer that can be understood; connect again.
    Lost(String),
}

pub(crate) struct Client {
    service: RunningService<RoleClient, ()>,
}

impl Client {
    pub(crate) async fn connect(http: &reqwest::Client, url: &str, key: &str) -> Result<Self, CallFault> {
        let config = StreamableHttpClientTransportConfig::with_uri(Arc::<str>::from(url)).auth_header(key);
        let transport = StreamableHttpClientTransport::with_client(http.clone(), config);
        let service = ().serve(transport).await.map_err(|error| CallFault::Lost(error.to_string()))?;
        Ok(Self { service })
    }

    /// Calls `tool`; the answer is the structured content of a success.
    pub(crate) async fn call(&self, tool: &'static str, arguments: JsonObject) -> Result<Value, CallFault> {
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self
            .service
            .peer()
            .call_tool(request)
            .await
            .map_err(|error| CallFault::Lost(error.to_string()))?;
        let content = result.structured_content.unwrap_or(Value::Null);
        if result.is_error != Some(true) {
            return Ok(content);
        }
        let error = &content["error"];
        Err(CallFault::Refused {
            code: error["code"].as_str().unwrap_or_default().to_owned(),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            retry_after_seconds: error["retry_after_seconds"].as_i64(),
        })
    }

    pub(crate) async fn close(self) {
        // The other side may be gone already; there is nothing to tell it.
        let _ = self.service.cancel().await;
    }
}

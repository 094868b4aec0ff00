//! The SDK's server handler over the catalog: everything of MCP that the door does not answer itself.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use kernel::{Fault, Kind};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult,
        ErrorCode, ListToolsResult, MetaObject, PaginatedRequestParams, ProtocolVersion, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;

use super::{
    result::{CLOCK_SPEED_KEY, ONCE_KEY, REPLAYED_KEY, REQUEST_ID_KEY},
    stdio::{Forward, ToolCall},
    tools::{LISTS_TTL_MS, SERVER_INFO_KEY, Toolbox},
};
use crate::{
    answer,
    credential::Credential,
    dispatch::{Incoming, Refused, dispatch},
    house::House,
    request_id::RequestId,
};

/// Where a handler leaves a refusal that must become an HTTP status, which a tool result cannot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot(Arc<Mutex<Option<Refused>>>);

impl Slot {
    fn put(&self, refused: Refused) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(refused);
    }

    pub(crate) fn take(&self) -> Option<Refused> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Who runs a tool.
#[derive(Clone)]
pub(crate) enum Backend {
    Local { house: Arc<House>, product: usize },
    Forward(Forward),
}

#[derive(Clone)]
pub(crate) struct Adapter {
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) backend: Backend,
}

/// A tool's outcome before it is dressed for one of the revisions.
struct Outcome {
    structured: Value,
    text: String,
    is_error: bool,
    replayed: bool,
}

impl ServerHandler for Adapter {
    fn get_info(&self) -> ServerConfig {
        self.toolbox.info.clone()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.toolbox.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params("the list has one page; leave the cursor out", None));
        }
        let modern =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        Ok(self.toolbox.list(modern))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.toolbox.tools.iter().any(|tool| tool.name == request.name) {
            return Err(unknown_tool(&request.name));
        }
        let once_key = context.meta.get(ONCE_KEY).or_else(|| request.meta.as_ref()?.get(ONCE_KEY));
        // A key that is not text becomes one that the seam refuses with its rule.
        let once_key = once_key.map(|key| key.as_str().unwrap_or_default().to_owned());
        let call = ToolCall {
            name: request.name.into_owned(),
            arguments: request
                .arguments
                .map_or_else(|| "{}".to_owned(), |map| Value::Object(map).to_string()),
            idempotency_key: once_key,
        };
        let mut meta = MetaObject::default();
        let outcome = match &self.backend {
            Backend::Local { house, product } => {
                let outcome = run_local(house, *product, call, &context, &mut meta).await?;
                if let Some(speed) = house.clock_speed() {
                    meta.insert(CLOCK_SPEED_KEY.to_owned(), speed.into());
                }
                outcome
            }
            Backend::Forward(forward) => {
                let forwarded = forward(call).await;
                let structured = serde_json::from_str(&forwarded.json).map_err(|_| {
                    ErrorData::internal_error("the server's answer is not JSON; try again", None)
                })?;
                Outcome { structured, text: forwarded.json, is_error: forwarded.is_error, replayed: false }
            }
        };
        if outcome.replayed {
            meta.insert(REPLAYED_KEY.to_owned(), true.into());
        }
        if let Ok(info) = serde_json::from_str(&self.toolbox.server_info_json) {
            meta.insert(SERVER_INFO_KEY.to_owned(), info);
        }
        let mut result = CallToolResult::success(vec![ContentBlock::text(outcome.text)]);
        result.structured_content = Some(outcome.structured);
        result.is_error = Some(outcome.is_error);
        result.meta = Some(meta);
        Ok(result.into())
    }
}

async fn run_local(
    house: &Arc<House>,
    product: usize,
    call: ToolCall,
    context: &RequestContext<RoleServer>,
    meta: &mut MetaObject,
) -> Result<Outcome, ErrorData> {
    let mounted = &house.products[product].product;
    let Some(entry) = mounted.operations.iter().position(|entry| entry.spec.id == call.name) else {
        return Err(unknown_tool(&call.name));
    };
    let parts = context.extensions.get::<http::request::Parts>();
    let credential = parts.map_or(Credential::Absent, |parts| Credential::of(&parts.uri, &parts.headers));
    let request_id =
        parts.and_then(|parts| parts.extensions.get::<RequestId>()).map_or("", RequestId::as_str);
    meta.insert(REQUEST_ID_KEY.to_owned(), request_id.into());
    let incoming = Incoming {
        product,
        entry,
        credential,
        request_id: request_id.to_owned(),
        once_key: call.idempotency_key,
        input: Ok(Bytes::from(call.arguments)),
    };
    match dispatch(house, incoming).await {
        Ok(answer) => {
            let structured = serde_json::from_str(&answer.json).map_err(|_| {
                ErrorData::internal_error("something went wrong on our side; try again", None)
            })?;
            Ok(Outcome { structured, text: answer.json, is_error: false, replayed: answer.replayed })
        }
        Err(refused) if refused.gate.is_some() => {
            if let Some(slot) = parts.and_then(|parts| parts.extensions.get::<Slot>()) {
                slot.put(refused);
            }
            Err(ErrorData::internal_error("refused before the tool ran", None))
        }
        Err(refused) => {
            answer::log(&refused.fault, mounted.code(&refused.fault));
            let structured = mounted.body(&refused.fault, refused.at);
            Ok(Outcome { text: structured.to_string(), structured, is_error: true, replayed: false })
        }
    }
}

fn unknown_tool(name: &str) -> ErrorData {
    let name: String = name.chars().take(64).collect();
    let fault =
        Fault::of(Kind::NotFound, format!("there is no tool {name:?}; tools/list names those there are"));
    ErrorData::new(ErrorCode::INVALID_PARAMS, fault.message, None)
}

//! The tool definitions of a product, built once, in catalog order.

use std::sync::Arc;

use kernel::operation::Product;
use rmcp::model::{
    CacheScope, Implementation, ListToolsResult, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};

use crate::{config::ServerName, schemas};

/// How long a client may keep `tools/list` and `server/discover`.
pub(crate) const LISTS_TTL_MS: u64 = 300_000;

/// The `_meta` key under which a server names itself in its results.
pub(crate) const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// What a client may be told of a product.
pub(crate) struct Toolbox {
    pub(crate) tools: Vec<Tool>,
    pub(crate) info: ServerConfig,
    /// `info.server_info` as JSON text.
    pub(crate) server_info_json: String,
}

impl Toolbox {
    pub(crate) fn new(product: &Product, server: &ServerName) -> Self {
        let implementation =
            Implementation::new(format!("{}-{}", server.name, product.name), server.version.clone())
                .with_title(format!("{}: {}", server.title, product.title));
        let server_info_json = serde_json::to_string(&implementation).unwrap_or_else(|_| "{}".to_owned());
        let info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation)
            .with_instructions(product.instructions);
        let tools = product
            .operations
            .iter()
            .map(|entry| {
                let spec = &entry.spec;
                let hints = ToolAnnotations::from_raw(
                    Some(spec.title.to_owned()),
                    Some(spec.hints.read_only),
                    Some(spec.hints.destructive),
                    Some(spec.hints.idempotent),
                    Some(spec.hints.open_world),
                );
                Tool::new(spec.id, spec.description(), Arc::clone(&entry.input_schema))
                    .with_title(spec.title)
                    .with_raw_output_schema(Arc::new(schemas::of_result(product, entry)))
                    .with_annotations(hints)
            })
            .collect();
        Self { tools, info, server_info_json }
    }

    /// The answer to `tools/list`; older revisions know no caching hints.
    pub(crate) fn list(&self, modern: bool) -> ListToolsResult {
        let mut list = ListToolsResult::with_all_items(self.tools.clone());
        if modern {
            list = list.with_ttl_ms(LISTS_TTL_MS).with_cache_scope(CacheScope::Public);
        } else {
            list.result_type = None;
        }
        let mut meta = rmcp::model::MetaObject::default();
        if let Ok(info) = serde_json::to_value(&self.info.server_info) {
            meta.insert(SERVER_INFO_KEY.to_owned(), info);
        }
        list.meta = Some(meta);
        list
    }
}

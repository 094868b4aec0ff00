//! What clients read first: which authorization server guards a resource (RFC 9728), and what that server
//! does (RFC 8414). Every path that real clients are known to try answers the document or a true 404.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    routing::{MethodRouter, any},
};
use http::{Method, Response, StatusCode};
use identity::keys::SCOPES;
use kernel::{Fault, Kind};
use serde_json::json;

use super::{json_answer, preflight};
use crate::{
    address::as_called,
    answer,
    auth::{Auth, page::told},
    house::House,
    mcp,
};

const NAME: &str = "/.well-known";

#[derive(Clone)]
struct Document {
    house: Arc<House>,
    of: Of,
}

#[derive(Clone, Copy)]
enum Of {
    Server,
    /// The resource at a path.
    Resource(&'static str),
}

/// Every resource that tokens are for: its address and the path of its metadata.
pub(crate) fn resources(house: &House) -> Vec<(String, &'static str)> {
    let root = (format!("{}{}", house.public_url, mcp::ROOT_PATH), mcp::ROOT_PATH);
    let products = house.products.iter().map(|mounted| {
        (format!("{}{}", house.public_url, mounted.product.mcp_path), mounted.product.mcp_path)
    });
    std::iter::once(root).chain(products).collect()
}

/// The index of the product that a resource belongs to.
pub(crate) fn product_of(house: &House, resource: &str) -> Option<usize> {
    let path = resource.strip_prefix(&house.public_url)?;
    if path == mcp::ROOT_PATH {
        return Some(house.root);
    }
    house.products.iter().position(|mounted| mounted.product.mcp_path == path)
}

/// Where the metadata of a resource is, for challenges.
pub(crate) fn address(base: &str, path: &str) -> String {
    format!("{base}/.well-known/oauth-protected-resource{path}")
}

pub(crate) fn routes(auth: &Arc<Auth>) -> Vec<(String, MethodRouter)> {
    let house = &auth.house;
    let mut routes = Vec::new();
    let mut add = |path: String, of: Of| {
        let document = Document { house: Arc::clone(house), of };
        routes.push((path, any(serve).with_state(document)));
    };
    for name in ["oauth-authorization-server", "openid-configuration"] {
        add(format!("/.well-known/{name}"), Of::Server);
    }
    for (at, (_, path)) in resources(house).into_iter().enumerate() {
        if at == 0 {
            add("/.well-known/oauth-protected-resource".to_owned(), Of::Resource(path));
        }
        add(format!("/.well-known/oauth-protected-resource{path}"), Of::Resource(path));
        for name in ["oauth-authorization-server", "openid-configuration"] {
            add(format!("/.well-known/{name}{path}"), Of::Server);
        }
    }
    routes
}

fn protected(house: &House, resource: &str) -> String {
    let scopes: Vec<&str> = SCOPES.iter().map(|(scope, _)| *scope).collect();
    json!({
        "resource": resource,
        "authorization_servers": [house.public_url],
        "scopes_supported": scopes,
        "bearer_methods_supported": ["header"],
        "resource_name": house.server.title,
        "resource_documentation": format!("{}/docs", house.public_url),
    })
    .to_string()
}

fn server(house: &House) -> String {
    let base = &house.public_url;
    let scopes: Vec<&str> = SCOPES.iter().map(|(scope, _)| *scope).collect();
    json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/oauth/authorize"),
        "token_endpoint": format!("{base}/oauth/token"),
        "registration_endpoint": format!("{base}/oauth/register"),
        "revocation_endpoint": format!("{base}/oauth/revoke"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "scopes_supported": scopes,
        "client_id_metadata_document_supported": true,
        "authorization_response_iss_parameter_supported": true,
        "service_documentation": format!("{base}/docs"),
    })
    .to_string()
}

async fn serve(State(document): State<Document>, request: Request) -> Response<Body> {
    if let Some(response) = preflight(request.method(), NAME) {
        return response;
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::plain_refusal(
            &Fault::of(Kind::MethodNotAllowed, "this document takes GET"),
            told(NAME),
        );
    }
    let Document { house, of } = document;
    let text = match of {
        Of::Server => server(&house),
        Of::Resource(path) => {
            let base = as_called(&house.public_url, request.uri(), request.headers());
            protected(&house, &format!("{base}{path}"))
        }
    };
    json_answer(StatusCode::OK, text, NAME)
}

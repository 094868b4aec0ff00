//! Liveness, readiness, and the sign-in documents that this server does not have.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::State,
    routing::{MethodRouter, any, get},
};
use http::{Response, StatusCode};
use kernel::{Fault, Kind};
use serde_json::json;

use crate::{
    answer::{self, Told},
    config::Door,
    house::House,
};

/// How long `/readyz` waits for the store.
const READ_TIME: Duration = Duration::from_secs(2);

/// The routes whose answers depend on the moment.
pub(crate) fn live_routes(house: &Arc<House>) -> Vec<(&'static str, MethodRouter)> {
    let mut routes = vec![("/healthz", get(healthz)), ("/readyz", get(readyz).with_state(Arc::clone(house)))];
    if house.has_accounts {
        return routes;
    }
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/{*rest}",
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/{*rest}",
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/{*rest}",
    ] {
        routes.push((path, any(no_sign_in)));
    }
    routes
}

const TOLD: Told = Told::by(Door::Health);

async fn healthz() -> Response<Body> {
    answer::json(StatusCode::OK, json!({"status": "ok"}).to_string(), TOLD)
}

async fn readyz(State(house): State<Arc<House>>) -> Response<Body> {
    match reason_not_ready(&house).await {
        None => answer::json(StatusCode::OK, json!({"status": "ready"}).to_string(), TOLD),
        Some(reason) => {
            let body = json!({"status": "unavailable", "reason": reason}).to_string();
            answer::json(StatusCode::SERVICE_UNAVAILABLE, body, TOLD)
        }
    }
}

async fn reason_not_ready(house: &House) -> Option<&'static str> {
    if house.store.queue_depth() > house.limits.ready_queue_max {
        return Some("too many changes wait for the writer");
    }
    match tokio::time::timeout(READ_TIME, house.store.read(|tx| Ok(tx.now()))).await {
        Ok(Ok(_)) => None,
        Ok(Err(fault)) => {
            answer::log(&fault, "UNAVAILABLE");
            Some("the store cannot be read")
        }
        Err(_) => Some("the store did not answer in time"),
    }
}

/// Clients look for these before they ask a person for a key; a page of HTML here confuses them.
async fn no_sign_in() -> Response<Body> {
    let fault = Fault::of(
        Kind::NotFound,
        "this server has no OAuth; send an arena_sk_ key as `Authorization: Bearer …`, from its operator",
    );
    answer::plain_refusal(&fault, Told::by(Door::Nowhere))
}

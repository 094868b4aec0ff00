//! Liveness, readiness, and the sign-in documents that this server does not have.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::State,
    routing::{MethodRouter, any, get},
};
use http::{Response, StatusCode};
use kernel::{Fault, Kind};
use serde_json::json;
use tokio::sync::Mutex;

use crate::{
    answer::{self, Told},
    config::Door,
    house::House,
};

/// How long `/readyz` waits for the store.
const STORE_TIME: Duration = Duration::from_secs(2);
/// How long an answer of the store is good for: everybody may ask, and each look costs a durable change.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What the store said last to whoever asked whether it is ready.
#[derive(Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, Option<&'static str>)>>);

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
    let mut last = house.readiness.0.lock().await;
    if let Some((at, reason)) = *last
        && at.elapsed() < LOOK_EVERY
    {
        return reason;
    }
    let reason = match tokio::time::timeout(STORE_TIME, house.store.probe()).await {
        Ok(Ok(())) => None,
        Ok(Err(fault)) => {
            answer::log(&fault, "UNAVAILABLE");
            Some("nothing can be written to the store; see whether its disk is full")
        }
        Err(_) => Some("the store did not answer in time"),
    };
    *last = Some((Instant::now(), reason));
    reason
}

/// Clients look for these before they ask a person for a key; a page of HTML here confuses them.
async fn no_sign_in() -> Response<Body> {
    let fault = Fault::of(
        Kind::NotFound,
        "this server has no OAuth; send an arena_sk_ key as `Authorization: Bearer …`, from its operator",
    );
    answer::plain_refusal(&fault, Told::by(Door::Nowhere))
}

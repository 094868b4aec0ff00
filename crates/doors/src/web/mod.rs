//! What the doors publish for people and programs about themselves, and the health checks.

mod docs;
mod health;
mod home;
mod html;
mod llms;
mod openapi;
mod site;

pub(crate) use health::live_routes;
pub(crate) use site::pages;

//! What the doors publish for people and programs about themselves, the pages of products in their
//! shell, the live stream, and the health checks.

pub(crate) mod assets;
pub(crate) mod cards;
pub(crate) mod connect;
mod docs;
pub(crate) mod feeds;
pub(crate) mod health;
mod home;
mod html;
pub(crate) mod live;
mod llms;
mod openapi;
pub(crate) mod page;
pub(crate) mod seats;
mod site;
mod theme;

pub(crate) use health::live_routes;
pub(crate) use html::policy;
pub(crate) use site::pages;
pub(crate) use theme::is_own_path;

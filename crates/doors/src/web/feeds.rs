//! `/feed.atom` (RFC 4287) and `/feed.json` (JSON Feed 1.1): what was settled, for readers that collect news.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
};
use http::{HeaderValue, Response, header};
use kernel::{Fault, operation::NewsItem};
use serde_json::json;

use super::{
    html::escape,
    page::{self, Asking},
};
use crate::{answer::Told, config::Door, house::House, publics::with_etag};

pub(super) const ATOM: &str = "/feed.atom";
pub(super) const JSON: &str = "/feed.json";
/// Items of all products together.
pub(crate) const ITEMS_MAX: usize = 50;
/// Readers ask often, and nothing here is urgent.
const AGE_SECONDS: u32 = 60;

#[derive(Clone)]
pub(super) struct Feed {
    pub(super) house: Arc<House>,
    pub(super) path: &'static str,
}

pub(super) async fn serve(State(feed): State<Feed>, request: Request) -> Response<Body> {
    let told = Told { operation: Some(feed.path), ..Told::by(Door::Public) };
    let asking = Asking::of(&request);
    drop(request);
    if let Some(refusal) = page::refused_method(&feed.house, &asking, told) {
        return refusal;
    }
    match newest(&feed.house).await {
        Ok(items) => {
            let (media_type, text) = if feed.path == ATOM {
                ("application/atom+xml; charset=utf-8", atom(&feed.house, &items))
            } else {
                ("application/feed+json", json_feed(&feed.house, &items))
            };
            let mut response = with_etag(asking.headers(), text.into(), media_type, AGE_SECONDS, told);
            response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            response
        }
        Err(fault) => page::error(&feed.house, &asking, &fault, told),
    }
}

async fn newest(house: &Arc<House>) -> Result<Vec<NewsItem>, Fault> {
    let shared = Arc::clone(house);
    house
        .store
        .read(move |tx| {
            let mut items = Vec::new();
            for mounted in &shared.products {
                if let Some(news) = &mounted.product.pages.news {
                    items.extend(news(tx)?);
                }
            }
            items.sort_by_key(|item| std::cmp::Reverse(item.at));
            items.truncate(ITEMS_MAX);
            Ok(items)
        })
        .await
}

/// Text in XML: what HTML escapes, and nothing that XML 1.0 has no place for.
fn xml(text: &str) -> String {
    escape(&text.chars().filter(|scalar| !scalar.is_control() || *scalar == '\n').collect::<String>())
}

fn atom(house: &House, items: &[NewsItem]) -> String {
    let base = &house.public_url;
    let updated = items.first().map_or_else(|| house.now(), |item| item.at);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n  <id>{base}/</id>\n  <title>{}</title>\n  <updated>{updated}</updated>\n  <link rel=\"alternate\" type=\"text/html\" href=\"{base}/\"/>\n  <link rel=\"self\" type=\"application/atom+xml\" href=\"{base}{ATOM}\"/>\n  <author><name>{}</name></author>\n",
        xml(&house.server.title),
        xml(&house.server.title),
    );
    for NewsItem { path, title, summary, at } in items {
        let url = format!("{base}{path}");
        out.push_str("  <entry>\n");
        for line in [
            format!("    <id>{}</id>\n    <title>{}</title>\n", xml(&url), xml(title)),
            format!("    <updated>{at}</updated>\n    <published>{at}</published>\n"),
            format!("    <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n", xml(&url)),
            format!("    <summary>{}</summary>\n  </entry>\n", xml(summary)),
        ] {
            out.push_str(&line);
        }
    }
    out.push_str("</feed>\n");
    out
}

fn json_feed(house: &House, items: &[NewsItem]) -> String {
    let base = &house.public_url;
    let items: Vec<_> = items
        .iter()
        .map(|item| {
            let url = format!("{base}{}", item.path);
            json!({"id": url, "url": url, "title": item.title, "content_text": item.summary, "date_published": item.at})
        })
        .collect();
    json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": house.server.title,
        "home_page_url": format!("{base}/"),
        "feed_url": format!("{base}{JSON}"),
        "items": items,
    })
    .to_string()
}

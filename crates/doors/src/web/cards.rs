//! Share cards as pictures: when one is drawn, how many at once, and what is kept. How it looks is the
//! press's, what it shows the product's.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    body::{Body, Bytes},
    extract::{Path, Request, State, rejection::PathRejection},
};
use http::{HeaderMap, HeaderValue, Method, Response, header};
use kernel::{
    Fault, Kind,
    card::Card,
    operation::{CARD_FILE, CardShown},
};
use tokio::sync::Semaphore;

use crate::{
    answer::{self, Told},
    config::{CardPress, Door},
    dispatch::Refused,
    house::House,
    publics::{PARAMETER_BYTES_MAX, Tag, tagged},
};

/// Cards that are drawn at once.
pub const CARDS_DRAWN_AT_ONCE_MAX: usize = 2;
/// Requests that wait for a card to be drawn, with those whose card is being drawn.
pub const CARDS_WAITING_MAX: usize = 16;
/// What a node keeps of the cards it drew; who was asked for longest ago goes first.
pub const CARDS_KEPT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// When to come back while too many wait.
const RETRY_SECONDS: i64 = 2;

/// The card of pages without one of their own.
pub(crate) const SITE: &str = "/card.png";
/// Only a release changes it.
const SITE_AGE_SECONDS: u32 = 3600;
const PNG: &str = "image/png";

/// The press with what it printed lately.
pub(crate) struct Cards {
    press: Arc<dyn CardPress>,
    kept: Arc<Mutex<Kept>>,
    waiting: Semaphore,
    drawing: Arc<Semaphore>,
}

impl Cards {
    pub(crate) fn new(press: Arc<dyn CardPress>) -> Self {
        Self {
            press,
            kept: Arc::default(),
            waiting: Semaphore::new(CARDS_WAITING_MAX),
            drawing: Arc::new(Semaphore::new(CARDS_DRAWN_AT_ONCE_MAX)),
        }
    }

    /// Width and height of every picture.
    pub(crate) fn size(&self) -> [u32; 2] {
        self.press.size()
    }

    fn kept(&self, mark: &str) -> Option<Bytes> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(mark)
    }

    async fn picture(&self, mark: &str, card: Card) -> Result<Bytes, Fault> {
        if let Some(kept) = self.kept(mark) {
            return Ok(kept);
        }
        let Ok(_place) = self.waiting.try_acquire() else {
            let message = "too many share cards are being drawn; ask again in a few seconds";
            return Err(Fault::of(Kind::Unavailable, message).with_retry_after(RETRY_SECONDS));
        };
        let turn = Arc::clone(&self.drawing).acquire_owned().await.map_err(Fault::internal)?;
        // Who waited before may have asked for the same.
        if let Some(kept) = self.kept(mark) {
            return Ok(kept);
        }
        let (press, kept, mark) = (Arc::clone(&self.press), Arc::clone(&self.kept), mark.to_owned());
        let drawn = tokio::task::spawn_blocking(move || {
            let picture = Bytes::from(press.draw(&card)?);
            kept.lock().unwrap_or_else(PoisonError::into_inner).put(&mark, picture.clone());
            // A caller that goes away does not end the work, so the turn is the work's; whoever has the
            // next one finds the picture.
            drop(turn);
            Ok(picture)
        });
        drawn.await.map_err(Fault::internal)?
    }
}

/// Pictures by their mark, the latest asked for at the end.
#[derive(Default)]
struct Kept {
    pictures: VecDeque<(String, Bytes)>,
    bytes: usize,
}

impl Kept {
    fn get(&mut self, mark: &str) -> Option<Bytes> {
        let at = self.pictures.iter().position(|(kept, _)| kept == mark)?;
        let found = self.pictures.remove(at)?;
        let picture = found.1.clone();
        self.pictures.push_back(found);
        Some(picture)
    }

    fn put(&mut self, mark: &str, picture: Bytes) {
        // It may have been drawn twice at once.
        if picture.len() > CARDS_KEPT_BYTES_MAX || self.get(mark).is_some() {
            return;
        }
        self.bytes += picture.len();
        self.pictures.push_back((mark.to_owned(), picture));
        while self.bytes > CARDS_KEPT_BYTES_MAX
            && let Some((_, oldest)) = self.pictures.pop_front()
        {
            self.bytes -= oldest.len();
        }
    }
}

/// One kind of card of a product.
#[derive(Clone)]
pub(crate) struct Printing {
    pub(crate) house: Arc<House>,
    pub(crate) product: usize,
    pub(crate) card: usize,
}

pub(crate) async fn of_product(
    State(printing): State<Printing>,
    parameter: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response<Body> {
    let Printing { house, product, card } = printing;
    let (method, headers) = (request.method().clone(), request.headers().clone());
    drop(request);
    let read = &house.products[product].product.pages.cards[card];
    let told = Told {
        product: Some(house.products[product].product.name),
        operation: Some(read.id),
        ..Told::by(Door::Public)
    };
    let parameter = if read.page.contains('{') {
        parameter.ok().map(|Path(text)| text).filter(|text| text.len() <= PARAMETER_BYTES_MAX)
    } else {
        Some(String::new())
    };
    let shown = match (only_reads(&method), parameter) {
        (Err(fault), _) => Err(fault),
        (Ok(()), None) => Err(Fault::of(Kind::NotFound, "nothing has this id; take one from a list")),
        (Ok(()), Some(parameter)) => {
            let shared = Arc::clone(&house);
            house
                .store
                .read(move |tx| (shared.products[product].product.pages.cards[card].read)(tx, &parameter))
                .await
        }
    };
    print(&house, Some(product), shown, &headers, told).await
}

/// The card of the server itself.
pub(crate) async fn of_site(State(house): State<Arc<House>>, request: Request) -> Response<Body> {
    let told = Told { operation: Some(SITE), ..Told::by(Door::Public) };
    let shown = only_reads(request.method())
        .map(|()| CardShown { card: Card::Site, max_age_seconds: SITE_AGE_SECONDS });
    let headers = request.headers().clone();
    drop(request);
    print(&house, None, shown, &headers, told).await
}

fn only_reads(method: &Method) -> Result<(), Fault> {
    match *method {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(Fault::of(Kind::MethodNotAllowed, "this picture takes GET; use that method")),
    }
}

async fn print(
    house: &House,
    product: Option<usize>,
    shown: Result<CardShown, Fault>,
    headers: &HeaderMap,
    told: Told,
) -> Response<Body> {
    let mut response = match printed(house, shown, headers, told).await {
        Ok(response) => response,
        Err(fault) => refused(house, product, fault, told),
    };
    // Nothing here depends on who asks, so any page may show it.
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

async fn printed(
    house: &House,
    shown: Result<CardShown, Fault>,
    headers: &HeaderMap,
    told: Told,
) -> Result<Response<Body>, Fault> {
    let CardShown { card, max_age_seconds } = shown?;
    let cards = house.cards.as_ref().ok_or_else(|| Fault::internal("a card's route without a press"))?;
    let tag = Tag::new(&cards.press.mark(&card));
    // Who has the picture needs no new one.
    let picture = if tag.is_known(headers) { Bytes::new() } else { cards.picture(tag.mark(), card).await? };
    Ok(tagged(&tag, headers, picture, PNG, max_age_seconds, told))
}

fn refused(house: &House, product: Option<usize>, fault: Fault, told: Told) -> Response<Body> {
    let is_method = fault.kind == Kind::MethodNotAllowed;
    let refusal = Refused::new(fault, house.now());
    let mut response = if let Some(product) = product {
        answer::refused(&house.products[product].product, &refusal, told)
    } else {
        let mut response = answer::plain_refusal(&refusal.fault, told);
        answer::add_refusal_headers(&mut response, &refusal);
        response
    };
    if is_method {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

/// The path of the card of a page, if the product has one for it.
pub(crate) fn path_of(house: &House, product: usize, page: &str, path: &str) -> Option<String> {
    house.cards.as_ref()?;
    let cards = &house.products[product].product.pages.cards;
    cards.iter().any(|card| card.page == page).then(|| format!("{path}/{CARD_FILE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_longest_ago_goes_first() {
        let mut kept = Kept::default();
        let picture = Bytes::from(vec![0; CARDS_KEPT_BYTES_MAX / 4]);
        for mark in ["a", "b", "c", "d"] {
            kept.put(mark, picture.clone());
        }
        kept.put("a", picture.clone());
        assert_eq!((kept.pictures.len(), kept.bytes), (4, CARDS_KEPT_BYTES_MAX), "one twice is one");
        assert!(kept.get("b").is_some());
        kept.put("e", picture);
        kept.put("large", Bytes::from(vec![0; CARDS_KEPT_BYTES_MAX + 1]));
        let marks: Vec<_> = kept.pictures.iter().map(|(mark, _)| mark.as_str()).collect();
        assert_eq!(marks, ["d", "a", "b", "e"]);
        assert_eq!(kept.bytes, CARDS_KEPT_BYTES_MAX);
    }
}

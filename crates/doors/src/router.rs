//! Every route of the doors, made from the catalog.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use axum::{Router, middleware, routing::any};
use kernel::operation::CARD_FILE;

use crate::{
    auth,
    config::{DoorsConfig, WiringError},
    front,
    house::House,
    mcp, operations, publics, streams, web,
};

/// Opens the doors on a catalog.
pub fn router(mut config: DoorsConfig) -> Result<Router, WiringError> {
    let extra = std::mem::take(&mut config.extra);
    let sign_in = config.sign_in.clone();
    let house = Arc::new(House::new(config)?);
    let mut routes = Routes { taken: BTreeSet::new(), router: Router::new() };
    for product in 0..house.products.len() {
        mount_product(&mut routes, &house, product)?;
    }
    for page in web::pages(&house)? {
        routes.add(page.path, page.route)?;
    }
    if house.cards.is_some() {
        routes.add(web::cards::SITE, any(web::cards::of_site).with_state(Arc::clone(&house)))?;
    }
    for (path, route) in web::live_routes(&house) {
        routes.add(path, route)?;
    }
    for (path, route) in sign_in.into_iter().flat_map(|sign_in| auth::routes(&house, sign_in)) {
        routes.add(&path, route)?;
    }
    let router = routes.router.merge(extra).fallback(any(front::nowhere).with_state(Arc::clone(&house)));
    Ok(router.layer(middleware::from_fn_with_state(house, front::front)))
}

struct Routes {
    taken: BTreeSet<String>,
    router: Router,
}

impl Routes {
    fn add(&mut self, path: &str, route: axum::routing::MethodRouter) -> Result<(), WiringError> {
        if !self.taken.insert(path.to_owned()) {
            return Err(WiringError::Path(path.to_owned()));
        }
        let router = std::mem::take(&mut self.router);
        self.router = router.route(path, route);
        Ok(())
    }
}

fn mount_product(routes: &mut Routes, house: &Arc<House>, product: usize) -> Result<(), WiringError> {
    let mounted = &house.products[product].product;
    let endpoint = Arc::new(mcp::Endpoint::new(house, product));
    let root = (house.root == product).then_some(mcp::ROOT_PATH);
    for path in [Some(mounted.mcp_path), root].into_iter().flatten() {
        let route = || any(mcp::serve).with_state(Arc::clone(&endpoint));
        routes.add(path, route())?;
        // Clients add the slash by themselves, and a redirect would lose their body.
        routes.add(&format!("{path}/"), route())?;
    }
    let mut by_path: BTreeMap<&'static str, Vec<(&'static str, usize)>> = BTreeMap::new();
    for (index, entry) in mounted.operations.iter().enumerate() {
        by_path.entry(entry.spec.path).or_default().push((entry.spec.method, index));
    }
    for (path, methods) in by_path {
        let resource = operations::Resource { house: Arc::clone(house), product, methods: Arc::new(methods) };
        routes.add(path, any(operations::serve).with_state(resource))?;
    }
    for (index, public) in mounted.publics.iter().enumerate() {
        let reading = publics::Reading { house: Arc::clone(house), product, public: index };
        routes.add(public.path, any(publics::serve).with_state(reading))?;
    }
    for index in 0..mounted.streams.len() {
        let listening = streams::Listening { house: Arc::clone(house), product, stream: index };
        routes.add(mounted.streams[index].path, any(streams::serve).with_state(listening))?;
    }
    for (index, page) in mounted.pages.pages.iter().enumerate() {
        // At the path of a public read that read decides which of the two is wanted.
        if mounted.publics.iter().all(|public| public.path != page.path) {
            let showing = web::page::Showing { house: Arc::clone(house), product, page: index };
            routes.add(page.path, any(web::page::serve).with_state(showing))?;
        }
    }
    if house.cards.is_some() {
        for (index, card) in mounted.pages.cards.iter().enumerate() {
            let printing = web::cards::Printing { house: Arc::clone(house), product, card: index };
            let path = format!("{}/{CARD_FILE}", card.page);
            routes.add(&path, any(web::cards::of_product).with_state(printing))?;
        }
    }
    Ok(())
}

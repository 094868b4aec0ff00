//! What all doors share while the server runs.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use kernel::{
    Moment,
    id::Ids,
    operation::{Entry, Product},
    time::SPEED_REAL_MILLI,
};
use store::{
    Store,
    limits::{Limits, Windows},
};

use crate::{
    config::{Authenticate, DoorsConfig, HttpLimits, OnRequest, ServerName, WiringError},
    origin::Origins,
};

/// A product with what is computed from it once.
pub(crate) struct Mounted {
    pub(crate) product: Product,
    pub(crate) windows: Windows,
}

pub(crate) struct House {
    pub(crate) store: Store,
    pub(crate) products: Vec<Mounted>,
    pub(crate) authenticate: Authenticate,
    pub(crate) limiter: Arc<Limits>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) server: ServerName,
    /// Without a trailing slash.
    pub(crate) public_url: String,
    pub(crate) origins: Origins,
    /// Index of the product that answers at `/mcp`.
    pub(crate) root: usize,
    pub(crate) limits: HttpLimits,
    pub(crate) on_request: Option<OnRequest>,
    last_now_ms: AtomicI64,
}

impl House {
    pub(crate) fn new(config: DoorsConfig) -> Result<Self, WiringError> {
        let origins = Origins::new(
            &config.public_url,
            &config.allowed_hosts,
            &config.allowed_origins,
            config.loopback_origins,
        )?;
        let root = config
            .products
            .iter()
            .position(|product| product.name == config.root_mcp)
            .ok_or(WiringError::UnknownRoot(config.root_mcp))?;
        let products = config
            .products
            .into_iter()
            .map(|product| Mounted { windows: Windows::from_budget(product.budget), product })
            .collect();
        Ok(Self {
            store: config.store,
            products,
            authenticate: config.authenticate,
            limiter: config.limiter,
            ids: config.ids,
            server: config.server,
            public_url: config.public_url.as_str().trim_end_matches('/').to_owned(),
            origins,
            root,
            limits: config.limits,
            on_request: config.on_request,
            last_now_ms: AtomicI64::new(0),
        })
    }

    /// Arena time for an answer that no transaction dates. When the store cannot tell, the last
    /// instant that it told: an error body must not fail for want of a clock.
    pub(crate) fn now(&self) -> Moment {
        match self.store.now() {
            Ok(now) => {
                self.last_now_ms.fetch_max(now.as_millis(), Ordering::Relaxed);
                now
            }
            Err(_) => Moment::from_millis(self.last_now_ms.load(Ordering::Relaxed)),
        }
    }

    /// The speed of Arena time as text, when it is not that of real time.
    pub(crate) fn clock_speed(&self) -> Option<String> {
        let milli = self.store.anchor().ok()?.speed_milli;
        (milli != SPEED_REAL_MILLI).then(|| speed_text(milli))
    }

    pub(crate) fn entry(&self, product: usize, entry: usize) -> &Entry {
        &self.products[product].product.operations[entry]
    }
}

/// Thousandths as a decimal without trailing zeros.
fn speed_text(milli: i64) -> String {
    let text = format!("{}.{:03}", milli / 1000, milli.rem_euclid(1000));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_print_plainly() {
        for (milli, text) in [(60_000, "60"), (1_500, "1.5"), (250, "0.25"), (0, "0"), (1, "0.001")] {
            assert_eq!(speed_text(milli), text);
        }
    }
}

//! A gallery of these tests: images in memory, and it can be told to fail or to hang at each step.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use duels::outside::{Avatars, Pending};
use kernel::{Fault, Kind};

#[derive(Default)]
pub(crate) struct Gallery {
    pub(crate) images: Mutex<BTreeMap<String, Vec<u8>>>,
    pub(crate) refuses: AtomicBool,
    pub(crate) is_full: AtomicBool,
    /// An image that cannot be removed.
    pub(crate) stuck: Mutex<String>,
    /// Never answers once the image is kept.
    pub(crate) hangs: AtomicBool,
}

impl Gallery {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.images.lock().unwrap().keys().cloned().collect()
    }
}

impl Avatars for Gallery {
    fn make<'a>(&'a self, url: &'a str) -> Pending<'a, Result<Vec<u8>, Fault>> {
        Box::pin(async move {
            if self.refuses.load(Ordering::SeqCst) {
                return Err(Fault::new("IMAGE_REJECTED", Kind::Invalid, "it is a GIF; send a PNG"));
            }
            Ok(url.as_bytes().to_vec())
        })
    }

    fn put<'a>(&'a self, name: &'a str, image: Vec<u8>) -> Pending<'a, Result<(), Fault>> {
        Box::pin(async move {
            if self.is_full.load(Ordering::SeqCst) {
                return Err(Fault::unavailable("no space"));
            }
            assert!(
                self.images.lock().unwrap().insert(name.to_owned(), image).is_none(),
                "a name used twice"
            );
            if self.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    }

    fn get<'a>(&'a self, name: &'a str) -> Pending<'a, Result<Option<Vec<u8>>, Fault>> {
        Box::pin(async move { Ok(self.images.lock().unwrap().get(name).cloned()) })
    }

    fn remove<'a>(&'a self, name: &'a str) -> Pending<'a, Result<(), Fault>> {
        Box::pin(async move {
            if *self.stuck.lock().unwrap() == name {
                return Err(Fault::unavailable("it cannot be removed"));
            }
            self.images.lock().unwrap().remove(name);
            Ok(())
        })
    }
}

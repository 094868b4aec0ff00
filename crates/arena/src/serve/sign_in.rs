//! How people sign in on this server, from the configuration: what the doors need and know nothing of.

use std::sync::Arc;

use doors::auth::{Documents, Pending, SignIn};
use identity::{logins::Account, people::Person};
use kernel::{Fault, id::Ids, tx::Tx};
use net::Fetcher;
use url::Url;

use super::issuers;
use crate::{
    config::model::{Config, Switch},
    failure::Failure,
};

/// A client's document, fetched as any stranger's file is.
struct Guarded(Arc<Fetcher>);

impl Documents for Guarded {
    fn fetch<'a>(&'a self, url: &'a str, bytes_max: usize) -> Pending<'a, Vec<u8>> {
        Box::pin(async move {
            self.0.fetch(url, bytes_max).await.map_err(|refusal| Fault::invalid(refusal.to_string()))
        })
    }
}

pub(super) fn open(config: &Config, public_url: &Url, fetcher: &Arc<Fetcher>) -> Result<SignIn, Failure> {
    let points = config.duels.opening_points;
    Ok(SignIn {
        local: config.sign_in.is_local()?,
        open: config.sign_in.open == Switch::On,
        upstreams: issuers::open(&config.sign_in, public_url)?,
        documents: Arc::new(Guarded(Arc::clone(fetcher))),
        enrol: Arc::new(move |tx: &mut dyn Tx, ids: &dyn Ids, person: &Person| {
            duels::open_account(tx, ids, &person.id, &person.nickname, points)
        }),
        linked: Arc::new(|tx: &mut dyn Tx, person: &Person, account: &Account| {
            if account.provider == "github" {
                duels::set_social_once(tx, &person.id, &format!("https://github.com/{}", account.label))?;
            }
            Ok(())
        }),
    })
}

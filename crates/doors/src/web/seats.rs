//! Who may hold a connection or listen to a stream: so many in all, and so many of one address or account.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The address at the other end of a connection, as an extension of its requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Seats that are taken, each by somebody with a share of them.
#[derive(Debug, Clone)]
pub(crate) struct Seats<K: Ord>(Arc<Mutex<Taken<K>>>);

#[derive(Debug)]
struct Taken<K: Ord> {
    all: usize,
    by_holder: BTreeMap<K, usize>,
}

impl<K: Ord> Default for Seats<K> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Taken { all: 0, by_holder: BTreeMap::new() })))
    }
}

/// One seat, free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat<K: Ord> {
    seats: Seats<K>,
    holder: Option<K>,
}

/// Which limit is reached.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Full {
    All,
    /// The holder has its share.
    Share,
}

impl<K: Ord + Clone> Seats<K> {
    /// Takes one of `all_max` seats; who is named may have `share_max` of them.
    pub(crate) fn take(&self, holder: Option<K>, all_max: usize, share_max: usize) -> Result<Seat<K>, Full> {
        let mut taken = self.taken();
        if taken.all >= all_max {
            return Err(Full::All);
        }
        if let Some(holder) = holder.clone() {
            let here = taken.by_holder.entry(holder).or_default();
            if *here >= share_max {
                return Err(Full::Share);
            }
            *here += 1;
        }
        taken.all += 1;
        drop(taken);
        Ok(Seat { seats: Self(Arc::clone(&self.0)), holder })
    }
}

impl<K: Ord> Seats<K> {
    fn taken(&self) -> MutexGuard<'_, Taken<K>> {
        // Nothing between lock and unlock can leave the counts half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord> Drop for Seat<K> {
    fn drop(&mut self) {
        let mut taken = self.seats.taken();
        taken.all = taken.all.saturating_sub(1);
        if let Some(holder) = &self.holder
            && let Some(here) = taken.by_holder.get_mut(holder)
        {
            *here = here.saturating_sub(1);
            if *here == 0 {
                taken.by_holder.remove(holder);
            }
        }
    }
}

impl Peer {
    /// What is counted of the address at the other end, if anything is.
    pub(crate) fn counted(self) -> Option<IpAddr> {
        counted(self.0)
    }
}

/// What an address is counted as. A proxy on this machine speaks for many, so loopback is not counted;
/// one IPv6 customer has a whole /64.
pub(crate) fn counted(address: IpAddr) -> Option<IpAddr> {
    let address = address.to_canonical();
    if address.is_loopback() {
        return None;
    }
    Some(match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(long) => Ipv6Addr::from_bits(long.to_bits() & !u128::from(u64::MAX)).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(address: &str) -> Option<IpAddr> {
        counted(address.parse().unwrap())
    }

    #[test]
    fn one_address_cannot_take_all_seats() {
        let seats = Seats::default();
        let take = |address| seats.take(peer(address), 5, 2);
        let first = take("203.0.113.7").unwrap();
        let mapped = take("::ffff:203.0.113.7").unwrap();
        assert_eq!(take("203.0.113.7").unwrap_err(), Full::Share);
        let here = [take("2001:db8::1").unwrap(), take("2001:db8::ffff:1").unwrap()];
        assert_eq!(take("2001:db8::2").unwrap_err(), Full::Share);
        drop(first);
        let again = take("203.0.113.7").unwrap();
        assert_eq!(take("203.0.113.8").map(|_| ()), Ok(()));
        drop((mapped, here, again));
        assert!(seats.taken().by_holder.is_empty(), "{seats:?}");
        assert_eq!(seats.taken().all, 0);
    }

    #[test]
    fn all_seats_are_counted_wherever_they_are_taken_from() {
        let seats = Seats::default();
        let taken: Vec<Seat<IpAddr>> = [peer("127.0.0.1"), peer("::1"), None]
            .into_iter()
            .map(|peer| seats.take(peer, 3, 0).unwrap())
            .collect();
        assert_eq!(seats.take(peer("127.0.0.1"), 3, 9).unwrap_err(), Full::All);
        drop(taken);
        assert!(seats.take(peer("127.0.0.1"), 3, 0).is_ok());
    }
}

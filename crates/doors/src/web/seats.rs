//! Who may listen to a stream: so many in all, and so many from one address.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The address at the other end of a connection, as an extension of its requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Seats that are taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seats(Arc<Mutex<Taken>>);

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_address: BTreeMap<IpAddr, usize>,
}

/// One seat, free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Seats,
    address: Option<IpAddr>,
}

/// Which limit is reached.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Full {
    All,
    Address,
}

impl Seats {
    pub(crate) fn take(&self, peer: Option<Peer>, all_max: usize, address_max: usize) -> Result<Seat, Full> {
        let address = peer.and_then(|peer| counted(peer.0));
        let mut taken = self.taken();
        if taken.all >= all_max {
            return Err(Full::All);
        }
        if let Some(address) = address {
            let here = taken.by_address.entry(address).or_default();
            if *here >= address_max {
                return Err(Full::Address);
            }
            *here += 1;
        }
        taken.all += 1;
        drop(taken);
        Ok(Seat { seats: self.clone(), address })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // Nothing between lock and unlock can leave the counts half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken();
        taken.all = taken.all.saturating_sub(1);
        if let Some(address) = self.address
            && let Some(here) = taken.by_address.get_mut(&address)
        {
            *here = here.saturating_sub(1);
            if *here == 0 {
                taken.by_address.remove(&address);
            }
        }
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

    fn peer(address: &str) -> Peer {
        Peer(address.parse().unwrap())
    }

    #[test]
    fn one_address_cannot_take_all_seats() {
        let seats = Seats::default();
        let take = |address| seats.take(Some(peer(address)), 5, 2);
        let first = take("203.0.113.7").unwrap();
        let mapped = take("::ffff:203.0.113.7").unwrap();
        assert_eq!(take("203.0.113.7").unwrap_err(), Full::Address);
        let here = [take("2001:db8::1").unwrap(), take("2001:db8::ffff:1").unwrap()];
        assert_eq!(take("2001:db8::2").unwrap_err(), Full::Address);
        drop(first);
        let again = take("203.0.113.7").unwrap();
        assert_eq!(take("203.0.113.8").map(|_| ()), Ok(()));
        drop((mapped, here, again));
        assert!(seats.taken().by_address.is_empty(), "{seats:?}");
        assert_eq!(seats.taken().all, 0);
    }

    #[test]
    fn all_seats_are_counted_wherever_they_are_taken_from() {
        let seats = Seats::default();
        let taken: Vec<Seat> = [Some(peer("127.0.0.1")), Some(peer("::1")), None]
            .into_iter()
            .map(|peer| seats.take(peer, 3, 0).unwrap())
            .collect();
        assert_eq!(seats.take(Some(peer("127.0.0.1")), 3, 9).unwrap_err(), Full::All);
        drop(taken);
        assert!(seats.take(Some(peer("127.0.0.1")), 3, 0).is_ok());
    }
}

//! The order book of one market, by price and then by time, on the scale of YES.
//!
//! An incoming order fills whole or not at all. One that rests may be consumed in pieces. One that came across
//! the other side's prices and could not be filled whole rests too, at its own price, and *waits*: as soon as
//! what is left of it can be filled whole, it takes. No person's orders ever cross each other.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use super::price::{Cents, Side};

/// Whose an order is. Equal for two orders of one person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner(pub u128);

/// An order that rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resting {
    /// Its number in this market; of two at one price the smaller goes first.
    pub seq: u64,
    pub owner: Owner,
    pub side: Side,
    pub price: Cents,
    /// What is left of it, at least 1.
    pub count: u32,
    /// Whether it came across the other side and takes when it can be filled whole.
    pub waits: bool,
}

/// An order that comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Incoming {
    /// Greater than that of every order before.
    pub seq: u64,
    pub owner: Owner,
    pub side: Side,
    pub limit: Cents,
    pub count: u32,
    /// Whether it rests when it cannot be filled now.
    pub rests: bool,
    /// Whether it may only rest.
    pub post_only: bool,
}

/// One taking of one resting order, at the price of the one that rested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    pub taker: u64,
    pub maker: u64,
    pub taker_side: Side,
    pub price: Cents,
    pub count: u32,
}

/// What became of an incoming order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// All of it was filled.
    Filled,
    /// It rests, and `waits` when it lies across the other side.
    Rests { waits: bool },
}

/// Why an incoming order was refused. Nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Within its limit there are only so many contracts.
    Short { available: u64 },
    /// It would have met an order of the same owner.
    SelfTrade { own: u64 },
    /// It may only rest, and the other side is at `best`.
    WouldCross { best: Cents },
}

/// What a number of contracts would cost or bring now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    /// How many of them there are within the limit.
    pub count: u64,
    /// Their prices added up, in cents of YES.
    pub cents: u64,
    /// The last price that is touched.
    pub last: Option<Cents>,
}

const NONE: u32 = u32::MAX;
const PRICES: usize = 100;

#[derive(Clone, Copy)]
struct Node {
    order: Resting,
    before: u32,
    after: u32,
}

#[derive(Clone, Copy)]
struct Level {
    first: u32,
    last: u32,
    total: u64,
}

/// The levels of one side by their price. A bit says which of them hold orders.
struct Ladder {
    levels: [Level; PRICES],
    held: u128,
}

impl Ladder {
    const fn new() -> Self {
        Self { levels: [Level { first: NONE, last: NONE, total: 0 }; PRICES], held: 0 }
    }

    /// The best price of `side` among `held`.
    const fn best(held: u128, side: Side) -> Option<Cents> {
        if held == 0 {
            return None;
        }
        let cents = match side {
            Side::Bid => held.ilog2(),
            Side::Ask => held.trailing_zeros(),
        };
        Cents::new(cents as i64)
    }

    /// The levels that an order of the other side with this limit accepts.
    const fn within(&self, taker: Side, limit: Cents) -> u128 {
        let at = limit.get() as u32;
        self.held
            & match taker {
                Side::Bid => (1_u128 << (at + 1)) - 1,
                Side::Ask => !((1_u128 << at) - 1),
            }
    }
}

/// Sequence numbers are drawn by us, so nobody chooses them to collide: one multiplication spreads them.
#[derive(Default)]
struct SeqHasher(u64);

impl Hasher for SeqHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte) ^ self.0.rotate_left(8));
        }
    }

    fn write_u64(&mut self, seq: u64) {
        // 2^64 divided by the golden ratio.
        self.0 = seq.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 32;
    }
}

/// The open orders of one market.
pub struct Book {
    bids: Ladder,
    asks: Ladder,
    nodes: Vec<Node>,
    /// The first of the nodes that hold nothing.
    free: u32,
    places: HashMap<u64, u32, BuildHasherDefault<SeqHasher>>,
    /// Orders that wait, in the order of their coming. It may name some that are gone.
    waiting: Vec<u64>,
}

impl Default for Book {
    fn default() -> Self {
        Self::new()
    }
}

impl Book {
    pub fn new() -> Self {
        Self {
            bids: Ladder::new(),
            asks: Ladder::new(),
            nodes: Vec::new(),
            free: NONE,
            places: HashMap::default(),
            waiting: Vec::new(),
        }
    }

    /// Puts an order back that rested before, as it was. Orders must come by ascending `seq`.
    pub fn restore(&mut self, order: Resting) {
        assert!(order.count > 0 && !self.places.contains_key(&order.seq), "an open order, once");
        self.append(order);
    }

    /// Places an order. What it and the waiting ones take is added to `fills`, in order.
    pub fn submit(&mut self, order: &Incoming, fills: &mut Vec<Fill>) -> Result<Placed, Refusal> {
        assert!(order.count > 0, "an order is for at least one contract");
        let placed = match self.reachable(order.side, order.limit) {
            0 if order.rests => Placed::Rests { waits: false },
            0 => return Err(Refusal::Short { available: 0 }),
            reachable if order.post_only => {
                let best = Ladder::best(reachable, order.side.opposite()).unwrap_or(order.limit);
                return Err(Refusal::WouldCross { best });
            }
            reachable => self.meet(order, reachable, fills)?,
        };
        if let Placed::Rests { waits } = placed {
            let Incoming { seq, owner, side, limit, count, .. } = *order;
            self.append(Resting { seq, owner, side, price: limit, count, waits });
        }
        if !self.waiting.is_empty() {
            self.settle_waiting(fills);
        }
        Ok(placed)
    }

    /// An order that crosses: it takes, or waits, or is refused.
    fn meet(&mut self, order: &Incoming, reachable: u128, fills: &mut Vec<Fill>) -> Result<Placed, Refusal> {
        let available = self.sum(order.side.opposite(), reachable, u64::from(order.count));
        if let Some(own) = self.own_order_met(order, reachable) {
            return Err(Refusal::SelfTrade { own });
        }
        if available >= u64::from(order.count) {
            self.take(order.seq, order.side, order.limit, order.count, fills);
            return Ok(Placed::Filled);
        }
        if order.rests { Ok(Placed::Rests { waits: true }) } else { Err(Refusal::Short { available }) }
    }

    /// Removes an order; answers what was left of it.
    pub fn cancel(&mut self, seq: u64) -> Option<Resting> {
        let place = self.places.get(&seq).copied()?;
        Some(self.remove(place))
    }

    /// Lessens what is left of an order to `count`, at least 1, which keeps its place. What thereby can be
    /// filled whole is added to `fills`.
    pub fn decrease(&mut self, seq: u64, count: u32, fills: &mut Vec<Fill>) -> bool {
        let Some(place) = self.places.get(&seq).copied() else { return false };
        let order = self.nodes[place as usize].order;
        assert!(count > 0 && count <= order.count, "a decrease leaves something and adds nothing");
        self.consume(place, order.count - count);
        self.settle_waiting(fills);
        true
    }

    pub fn get(&self, seq: u64) -> Option<&Resting> {
        self.places.get(&seq).map(|place| &self.nodes[*place as usize].order)
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn best(&self, side: Side) -> Option<Cents> {
        Ladder::best(self.ladder(side).held, side)
    }

    /// The prices of a side from the best on, each with how many contracts rest there.
    pub fn depth(&self, side: Side) -> impl Iterator<Item = (Cents, u64)> {
        let ladder = self.ladder(side);
        let mut held = ladder.held;
        std::iter::from_fn(move || {
            let best = Ladder::best(held, side)?;
            held &= !(1 << best.get());
            Some((best, ladder.levels[usize::from(best.get())].total))
        })
    }

    /// What an order for `count` would meet now, whoever sends it.
    pub fn walk(&self, taker: Side, limit: Cents, count: u64) -> Walk {
        let mut walk = Walk { count: 0, cents: 0, last: None };
        for (price, total) in self.depth(taker.opposite()) {
            if walk.count == count || !taker.accepts(limit, price) {
                break;
            }
            let taken = total.min(count - walk.count);
            walk.count += taken;
            walk.cents += taken * u64::from(price.get());
            walk.last = Some(price);
        }
        walk
    }

    /// The orders of a side, in the order in which they would be taken.
    pub fn orders(&self, side: Side) -> impl Iterator<Item = &Resting> {
        let prices = self.depth(side).map(|(price, _)| price);
        prices.flat_map(move |price| {
            let mut at = self.ladder(side).levels[usize::from(price.get())].first;
            std::iter::from_fn(move || {
                let node = self.nodes.get(at as usize)?;
                at = node.after;
                Some(&node.order)
            })
        })
    }

    /// Whose orders `submit` could fill for this one: those that it would come to first, and everybody's while
    /// orders wait that it could set off.
    pub fn owners_at_stake(&self, order: &Incoming) -> Vec<Owner> {
        if self.waiting.iter().any(|seq| self.places.contains_key(seq)) {
            return [Side::Bid, Side::Ask]
                .into_iter()
                .flat_map(|side| self.orders(side))
                .map(|one| one.owner)
                .collect();
        }
        let (mut owners, mut left) = (Vec::new(), order.count);
        for resting in self.orders(order.side.opposite()) {
            if left == 0 || !order.side.accepts(order.limit, resting.price) {
                break;
            }
            left = left.saturating_sub(resting.count);
            owners.push(resting.owner);
        }
        owners
    }

    const fn ladder(&self, side: Side) -> &Ladder {
        match side {
            Side::Bid => &self.bids,
            Side::Ask => &self.asks,
        }
    }

    const fn ladder_mut(&mut self, side: Side) -> &mut Ladder {
        match side {
            Side::Bid => &mut self.bids,
            Side::Ask => &mut self.asks,
        }
    }

    const fn reachable(&self, taker: Side, limit: Cents) -> u128 {
        self.ladder(taker.opposite()).within(taker, limit)
    }

    /// How many contracts rest at the `held` prices of a side, counted until there are `enough`.
    fn sum(&self, side: Side, mut held: u128, enough: u64) -> u64 {
        let ladder = self.ladder(side);
        let mut sum = 0;
        while sum < enough
            && let Some(best) = Ladder::best(held, side)
        {
            sum += ladder.levels[usize::from(best.get())].total;
            held &= !(1 << best.get());
        }
        sum
    }

    /// The first order of the same owner that `order` would come to before it is filled.
    fn own_order_met(&self, order: &Incoming, mut held: u128) -> Option<u64> {
        let side = order.side.opposite();
        let mut left = order.count;
        while let Some(best) = Ladder::best(held, side) {
            let mut at = self.ladder(side).levels[usize::from(best.get())].first;
            while let Some(node) = self.nodes.get(at as usize) {
                if node.order.owner == order.owner {
                    return Some(node.order.seq);
                }
                left = left.saturating_sub(node.order.count);
                if left == 0 {
                    return None;
                }
                at = node.after;
            }
            held &= !(1 << best.get());
        }
        None
    }

    /// Takes `count`, of which it is known that they are there.
    fn take(&mut self, taker: u64, side: Side, limit: Cents, count: u32, fills: &mut Vec<Fill>) {
        let mut left = count;
        while left > 0 {
            let held = self.reachable(side, limit);
            let Some(price) = Ladder::best(held, side.opposite()) else {
                unreachable!("{left} contracts of {count} were counted and are not there")
            };
            let place = self.ladder(side.opposite()).levels[usize::from(price.get())].first;
            let maker = self.nodes[place as usize].order;
            let taken = left.min(maker.count);
            self.consume(place, taken);
            fills.push(Fill { taker, maker: maker.seq, taker_side: side, price, count: taken });
            left -= taken;
        }
    }

    /// Lets the waiting orders take that can be filled whole by now, the oldest first.
    fn settle_waiting(&mut self, fills: &mut Vec<Fill>) {
        let mut at = 0;
        while let Some(seq) = self.waiting.get(at).copied() {
            let Some(place) = self.places.get(&seq).copied() else {
                self.waiting.remove(at);
                continue;
            };
            let Resting { side, price, count, .. } = self.nodes[place as usize].order;
            let reachable = self.reachable(side, price);
            if reachable == 0 || self.sum(side.opposite(), reachable, u64::from(count)) < u64::from(count) {
                at += 1;
                continue;
            }
            self.remove(place);
            self.take(seq, side, price, count, fills);
            // It may have left less of one that was passed over.
            at = 0;
        }
    }

    fn append(&mut self, order: Resting) {
        let Resting { seq, side, price, count, waits, .. } = order;
        let index = usize::from(price.get());
        let last = self.ladder(side).levels[index].last;
        let node = Node { order, before: last, after: NONE };
        let place = if self.free == NONE {
            self.nodes.push(node);
            u32::try_from(self.nodes.len() - 1).unwrap_or(NONE)
        } else {
            let place = self.free;
            self.free = self.nodes[place as usize].after;
            self.nodes[place as usize] = node;
            place
        };
        assert_ne!(place, NONE, "a book has fewer orders than 2^32");
        if let Some(before) = self.nodes.get_mut(last as usize) {
            before.after = place;
        }
        let ladder = self.ladder_mut(side);
        let level = &mut ladder.levels[index];
        if level.first == NONE {
            level.first = place;
            ladder.held |= 1 << index;
        }
        level.last = place;
        level.total += u64::from(count);
        self.places.insert(seq, place);
        if waits {
            self.waiting.push(seq);
        }
    }

    /// Lessens an order; removes it when nothing is left.
    fn consume(&mut self, place: u32, count: u32) {
        let node = &mut self.nodes[place as usize];
        if node.order.count == count {
            self.remove(place);
            return;
        }
        node.order.count -= count;
        let Resting { side, price, .. } = node.order;
        self.ladder_mut(side).levels[usize::from(price.get())].total -= u64::from(count);
    }

    fn remove(&mut self, place: u32) -> Resting {
        let Node { order, before, after } = self.nodes[place as usize];
        if let Some(node) = self.nodes.get_mut(before as usize) {
            node.after = after;
        }
        if let Some(node) = self.nodes.get_mut(after as usize) {
            node.before = before;
        }
        let index = usize::from(order.price.get());
        let ladder = self.ladder_mut(order.side);
        let level = &mut ladder.levels[index];
        level.total -= u64::from(order.count);
        if before == NONE {
            level.first = after;
        }
        if after == NONE {
            level.last = before;
        }
        if level.first == NONE {
            ladder.held &= !(1 << index);
        }
        self.nodes[place as usize].after = self.free;
        self.free = place;
        self.places.remove(&order.seq);
        order
    }
}

//! The book beside one that keeps a list and looks through it.

use predictions::rules::{
    book::{Book, Fill, Incoming, Owner, Placed, Refusal, Resting},
    price::{Cents, Side},
};
use proptest::prelude::*;

fn cents(price: i64) -> Cents {
    Cents::new(price).unwrap()
}

/// The same rules without any structure: everything is found by looking at all orders.
#[derive(Default)]
struct List(Vec<Resting>);

impl List {
    /// What `side` with `limit` would take, in order.
    fn facing(&self, side: Side, limit: Cents) -> Vec<Resting> {
        let mut facing: Vec<Resting> = self
            .0
            .iter()
            .filter(|order| order.side != side && side.accepts(limit, order.price))
            .copied()
            .collect();
        facing.sort_by_key(|order| {
            let price = i32::from(order.price.get());
            (if side == Side::Bid { price } else { -price }, order.seq)
        });
        facing
    }

    fn available(&self, side: Side, limit: Cents) -> u64 {
        self.facing(side, limit).iter().map(|order| u64::from(order.count)).sum()
    }

    fn take(&mut self, taker: u64, side: Side, limit: Cents, mut left: u32, fills: &mut Vec<Fill>) {
        for maker in self.facing(side, limit) {
            let count = left.min(maker.count);
            if count == 0 {
                break;
            }
            left -= count;
            fills.push(Fill { taker, maker: maker.seq, taker_side: side, price: maker.price, count });
            let place = self.0.iter().position(|order| order.seq == maker.seq).unwrap();
            self.0[place].count -= count;
            if self.0[place].count == 0 {
                self.0.remove(place);
            }
        }
        assert_eq!(left, 0);
    }

    fn submit(&mut self, order: &Incoming, fills: &mut Vec<Fill>) -> Result<Placed, Refusal> {
        let facing = self.facing(order.side, order.limit);
        let available: u64 = facing.iter().map(|maker| u64::from(maker.count)).sum();
        if order.post_only && !facing.is_empty() {
            return Err(Refusal::WouldCross { best: facing[0].price });
        }
        let mut before = 0;
        for maker in &facing {
            if before < u64::from(order.count) && maker.owner == order.owner {
                return Err(Refusal::SelfTrade { own: maker.seq });
            }
            before += u64::from(maker.count);
        }
        let placed = if available >= u64::from(order.count) {
            self.take(order.seq, order.side, order.limit, order.count, fills);
            Placed::Filled
        } else if order.rests {
            let Incoming { seq, owner, side, limit, count, .. } = *order;
            let waits = !facing.is_empty();
            self.0.push(Resting { seq, owner, side, price: limit, count, waits });
            Placed::Rests { waits }
        } else {
            // Counting stops where it is known to be enough, which it is not.
            return Err(Refusal::Short { available });
        };
        self.settle_waiting(fills);
        Ok(placed)
    }

    fn settle_waiting(&mut self, fills: &mut Vec<Fill>) {
        loop {
            let ready = self.0.iter().find(|order| {
                order.waits && self.available(order.side, order.price) >= u64::from(order.count)
            });
            let Some(order) = ready.copied() else { return };
            self.0.retain(|other| other.seq != order.seq);
            self.take(order.seq, order.side, order.price, order.count, fills);
        }
    }
}

#[derive(Debug, Clone)]
enum Act {
    Submit {
        owner: u128,
        is_bid: bool,
        price: i64,
        count: u32,
        rests: bool,
        post_only: bool,
    },
    /// Of the order that was the n-th to rest.
    Cancel(usize),
    Decrease(usize, u32),
}

fn act() -> impl Strategy<Value = Act> {
    // Few prices and counts, so that orders meet.
    let price = prop_oneof![8 => 46_i64..=54, 1 => Just(1_i64), 1 => Just(99_i64)];
    let submit = (0_u128..5, any::<bool>(), price, 1_u32..=12, 0..10_u8, 0..10_u8).prop_map(
        |(owner, is_bid, price, count, rests, post_only)| Act::Submit {
            owner,
            is_bid,
            price,
            count,
            rests: rests > 1,
            post_only: post_only == 0,
        },
    );
    prop_oneof![
        8 => submit,
        1 => any::<prop::sample::Index>().prop_map(|index| Act::Cancel(index.index(1 << 16))),
        1 => (any::<prop::sample::Index>(), 1_u32..6)
            .prop_map(|(index, count)| Act::Decrease(index.index(1 << 16), count)),
    ]
}

fn all_orders(book: &Book) -> Vec<Resting> {
    let mut orders: Vec<Resting> =
        [Side::Bid, Side::Ask].into_iter().flat_map(|side| book.orders(side).copied()).collect();
    orders.sort_by_key(|order| order.seq);
    orders
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn it_does_what_the_list_does(acts in prop::collection::vec(act(), 1..160)) {
        let (mut book, mut list) = (Book::new(), List::default());
        let mut seq = 0;
        for act in acts {
            let (mut fills, mut expected) = (Vec::new(), Vec::new());
            match act {
                Act::Submit { owner, is_bid, price, count, rests, post_only } => {
                    seq += 1;
                    let side = if is_bid { Side::Bid } else { Side::Ask };
                    let (owner, limit) = (Owner(owner), cents(price));
                    let order = Incoming { seq, owner, side, limit, count, rests, post_only };
                    let placed = book.submit(&order, &mut fills);
                    prop_assert_eq!(placed, list.submit(&order, &mut expected));
                    // An incoming order fills whole or not at all.
                    let own: u32 = fills.iter().filter(|fill| fill.taker == seq).map(|fill| fill.count).sum();
                    let whole = match placed {
                        Ok(Placed::Filled) => own == count,
                        Ok(Placed::Rests { .. }) => own == 0 || own == count || book.get(seq).is_none(),
                        Err(_) => fills.is_empty(),
                    };
                    prop_assert!(whole, "{placed:?} {fills:?}");
                }
                Act::Cancel(nth) => {
                    let known = list.0.get(nth % (list.0.len() + 1)).copied();
                    let asked = known.map_or(seq + 1, |order| order.seq);
                    prop_assert_eq!(book.cancel(asked), known);
                    list.0.retain(|order| order.seq != asked);
                }
                Act::Decrease(nth, to) => {
                    let len = list.0.len();
                    if let Some(order) = list.0.get_mut(nth % (len + 1)) {
                        let to = to.min(order.count);
                        order.count = to;
                        prop_assert!(book.decrease(order.seq, to, &mut fills));
                        list.settle_waiting(&mut expected);
                    }
                }
            }
            prop_assert_eq!(&fills, &expected);
            prop_assert_eq!(all_orders(&book), list.0.clone());
            check(&book);
        }
        // What is put back is the same book.
        let mut again = Book::new();
        for order in all_orders(&book) {
            again.restore(order);
        }
        seq += 1;
        for side in [Side::Bid, Side::Ask] {
            prop_assert_eq!(book.depth(side).collect::<Vec<_>>(), again.depth(side).collect::<Vec<_>>());
            let order = Incoming {
                seq, owner: Owner(99), side, limit: side.any_price(), count: 7, rests: false, post_only: false,
            };
            let (mut fills, mut expected) = (Vec::new(), Vec::new());
            let placed = again.submit(&order, &mut fills);
            prop_assert_eq!(placed, book.submit(&order, &mut expected));
            prop_assert_eq!(fills, expected);
        }
    }
}

/// What holds after every act.
fn check(book: &Book) {
    let orders = all_orders(book);
    assert_eq!(orders.len(), book.len());
    for side in [Side::Bid, Side::Ask] {
        let levels: Vec<(Cents, u64)> = book.depth(side).collect();
        assert!(levels.is_sorted_by(|a, b| if side == Side::Bid { a.0 > b.0 } else { a.0 < b.0 }));
        for (price, total) in &levels {
            let at = orders.iter().filter(|order| order.side == side && order.price == *price);
            assert_eq!(at.map(|order| u64::from(order.count)).sum::<u64>(), *total);
        }
        assert_eq!(book.best(side), levels.first().map(|level| level.0));
    }
    for bid in orders.iter().filter(|order| order.side == Side::Bid) {
        for ask in orders.iter().filter(|order| order.side == Side::Ask && order.price <= bid.price) {
            assert_ne!(bid.owner, ask.owner, "a person's orders cross");
            assert!(bid.waits || ask.waits, "orders cross of which neither waits");
        }
    }
}

/// Taker, maker, price and count of a fill.
type Taken = (u64, u64, u8, u32);

/// A script: each line an order and what becomes of it.
struct Script {
    book: Book,
    seq: u64,
}

impl Script {
    fn new() -> Self {
        Self { book: Book::new(), seq: 0 }
    }

    fn order(&mut self, owner: u128, side: Side, price: i64, count: u32) -> Incoming {
        self.seq += 1;
        let limit = cents(price);
        Incoming { seq: self.seq, owner: Owner(owner), side, limit, count, rests: true, post_only: false }
    }

    fn place(&mut self, order: &Incoming) {
        assert_eq!(self.submit(order), (RESTS, vec![]));
    }

    fn submit(&mut self, order: &Incoming) -> (Result<Placed, Refusal>, Vec<Taken>) {
        let mut fills = Vec::new();
        let placed = self.book.submit(order, &mut fills);
        (placed, fills.iter().map(|fill| (fill.taker, fill.maker, fill.price.get(), fill.count)).collect())
    }
}

const RESTS: Result<Placed, Refusal> = Ok(Placed::Rests { waits: false });
const WAITS: Result<Placed, Refusal> = Ok(Placed::Rests { waits: true });
const FILLED: Result<Placed, Refusal> = Ok(Placed::Filled);

#[test]
fn better_prices_go_first_and_older_orders_at_one_price() {
    let mut script = Script::new();
    for (owner, price) in [(1, 60), (2, 58), (3, 58), (4, 99)] {
        let order = script.order(owner, Side::Ask, price, 5);
        assert_eq!(script.submit(&order), (RESTS, vec![]));
    }
    let order = script.order(9, Side::Bid, 60, 12);
    assert_eq!(script.submit(&order), (FILLED, vec![(5, 2, 58, 5), (5, 3, 58, 5), (5, 1, 60, 2)]));
    assert_eq!(script.book.get(1).unwrap().count, 3);
    let walk = script.book.walk(Side::Bid, Cents::MAX, 10);
    assert_eq!((walk.count, walk.cents, walk.last), (8, 3 * 60 + 5 * 99, Some(cents(99))));
}

#[test]
fn what_cannot_be_filled_whole_rests_whole_or_is_refused() {
    let mut script = Script::new();
    let ask = script.order(1, Side::Ask, 40, 5);
    script.place(&ask);
    let now = Incoming { rests: false, ..script.order(2, Side::Bid, 99, 6) };
    assert_eq!(script.submit(&now), (Err(Refusal::Short { available: 5 }), vec![]));
    let waits = script.order(2, Side::Bid, 45, 6);
    assert_eq!(script.submit(&waits), (WAITS, vec![]));
    // An offer meets the bid that is there; what is left of the bid then takes whole, at the price of the ask.
    let seller = script.order(3, Side::Ask, 44, 2);
    assert_eq!(script.submit(&seller), (FILLED, vec![(4, 3, 45, 2), (3, 1, 40, 4)]));
    assert_eq!((script.book.len(), script.book.get(1).unwrap().count), (1, 1));
}

#[test]
fn a_waiting_order_takes_when_less_is_left_of_it() {
    let mut script = Script::new();
    let ask = script.order(1, Side::Ask, 40, 5);
    script.place(&ask);
    let bid = script.order(2, Side::Bid, 40, 9);
    assert_eq!(script.submit(&bid).0, WAITS);
    let mut fills = Vec::new();
    assert!(script.book.decrease(2, 5, &mut fills) && script.book.is_empty());
    assert_eq!((fills.len(), fills[0].taker, fills[0].count), (1, 2, 5));
    assert!(!script.book.decrease(2, 1, &mut fills));
}

#[test]
fn nobody_trades_with_oneself() {
    let mut script = Script::new();
    for (owner, price) in [(1, 40), (2, 41)] {
        let order = script.order(owner, Side::Ask, price, 5);
        script.place(&order);
    }
    // Filled before the own order is reached.
    let order = script.order(2, Side::Bid, 50, 3);
    assert_eq!(script.submit(&order).0, FILLED);
    let refused = Err(Refusal::SelfTrade { own: 2 });
    for count in [3, 100] {
        let order = script.order(2, Side::Bid, 41, count);
        assert_eq!(script.submit(&order), (refused, vec![]), "{count}");
    }
    let order = script.order(2, Side::Bid, 40, 100);
    assert_eq!(script.submit(&order).0, WAITS);
    // And an own offer does not come to the waiting bid either.
    let order = script.order(2, Side::Ask, 39, 1);
    assert_eq!(script.submit(&order).0, Err(Refusal::SelfTrade { own: 6 }));
}

#[test]
fn post_only_rests_or_is_refused() {
    let mut script = Script::new();
    let ask = script.order(1, Side::Ask, 40, 5);
    script.place(&ask);
    let crossing = Incoming { post_only: true, ..script.order(2, Side::Bid, 40, 1) };
    assert_eq!(script.submit(&crossing), (Err(Refusal::WouldCross { best: cents(40) }), vec![]));
    let below = Incoming { post_only: true, ..script.order(2, Side::Bid, 39, 1) };
    assert_eq!(script.submit(&below), (RESTS, vec![]));
}

#[test]
fn the_ends_of_the_scale_are_prices_like_any_other() {
    let mut script = Script::new();
    for (side, price) in [(Side::Bid, 1), (Side::Ask, 99)] {
        let order = script.order(1, side, price, u32::MAX);
        assert_eq!(script.submit(&order).0, RESTS);
    }
    for (side, price, maker) in [(Side::Ask, 1, 1), (Side::Bid, 99, 2)] {
        let order = script.order(2, side, price, 7);
        let seq = order.seq;
        assert_eq!(script.submit(&order), (FILLED, vec![(seq, maker, price.try_into().unwrap(), 7)]));
    }
    let order = script.order(3, Side::Bid, 99, u32::MAX);
    assert_eq!(script.submit(&order).0, WAITS, "7 of them are gone");
}

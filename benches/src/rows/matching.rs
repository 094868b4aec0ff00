//! Row `matching`: the order book beside the crate `lobster`, on one stream of orders with the same fills.

use std::time::Instant;

use lobster::{OrderBook, OrderEvent, OrderType};
use predictions::rules::{
    book::{Book, Fill, Incoming, Owner},
    price::{Cents, Side},
};

use super::{Name, Row};
use crate::{
    Effort,
    harness::{
        Outcome,
        progress::Progress,
        rounds::{Rounds, figure},
    },
};

const RATIO_MIN: f64 = 1.8;

#[derive(Clone, Copy)]
enum Act {
    Submit(Incoming),
    Cancel(u64),
}

/// What a stream did: taken contracts, their prices by count, and a sum over who took whom.
#[derive(Debug, Default, PartialEq, Eq)]
struct Done {
    fills: u64,
    contracts: u64,
    cents: u64,
    pairs: u64,
}

impl Done {
    const fn add(&mut self, taker: u64, maker: u64, count: u64, price: u64) {
        self.fills += 1;
        self.contracts += count;
        self.cents += count * price;
        self.pairs = self.pairs.wrapping_mul(31).wrapping_add(taker.wrapping_mul(1_000_003) ^ maker);
    }
}

/// Numbers that look random and are the same each time.
struct Draw(u64);

impl Draw {
    const fn next(&mut self, below: u64) -> u64 {
        // A step of SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % below
    }
}

/// Orders around a price that wanders, takings and cancels. None could be filled in part: `lobster` would do
/// that, and we do not.
fn stream(len: usize) -> Outcome<Vec<Act>> {
    let (mut draw, mut book, mut fills) = (Draw(7), Book::new(), Vec::new());
    let (mut acts, mut open) = (Vec::with_capacity(len), Vec::new());
    let (mut seq, mut middle) = (0_u64, 50_i64);
    while acts.len() < len {
        middle = (middle + i64::try_from(draw.next(3))? - 1).clamp(10, 90);
        let what = draw.next(100);
        if what < 35 && !open.is_empty() {
            let at = usize::try_from(draw.next(u64::try_from(open.len())?))?;
            let seq: u64 = open.swap_remove(at);
            if book.cancel(seq).is_some() {
                acts.push(Act::Cancel(seq));
            }
            continue;
        }
        let side = if draw.next(2) == 0 { Side::Bid } else { Side::Ask };
        let away = if what < 80 { -1 - i64::try_from(draw.next(8))? } else { i64::try_from(draw.next(4))? };
        let limit = if side == Side::Bid { middle + away } else { middle - away };
        let limit = Cents::new(limit).ok_or("a price within 1 to 99")?;
        let mut count = 1 + u32::try_from(draw.next(40))?;
        let there = book.walk(side, limit, u64::from(count)).count;
        if there > 0 {
            count = u32::try_from(there)?;
        }
        seq += 1;
        let owner = Owner(u128::from(seq));
        let order = Incoming { seq, owner, side, limit, count, rests: true, post_only: false };
        fills.clear();
        book.submit(&order, &mut fills).map_err(|refusal| format!("{refusal:?}"))?;
        if fills.is_empty() {
            open.push(seq);
        }
        acts.push(Act::Submit(order));
    }
    Ok(acts)
}

fn ours(acts: &[Act]) -> Done {
    let (mut book, mut fills, mut done) = (Book::new(), Vec::new(), Done::default());
    for act in acts {
        match act {
            Act::Cancel(seq) => {
                book.cancel(*seq);
            }
            Act::Submit(order) => {
                fills.clear();
                // Whatever was refused here would show in the sums.
                let _ = book.submit(order, &mut fills);
                for Fill { taker, maker, count, price, .. } in &fills {
                    done.add(*taker, *maker, u64::from(*count), u64::from(price.get()));
                }
            }
        }
    }
    done
}

/// The same for the other book. An order's number is at most 2^64 there too.
fn theirs(acts: &[OrderType]) -> Done {
    let (mut book, mut done) = (OrderBook::new(10_000, 16, false), Done::default());
    for act in acts {
        let (OrderEvent::Filled { fills, .. } | OrderEvent::PartiallyFilled { fills, .. }) =
            book.execute(*act)
        else {
            continue;
        };
        for fill in fills {
            #[expect(clippy::cast_possible_truncation, reason = "the numbers were u64")]
            done.add(fill.order_1 as u64, fill.order_2 as u64, fill.qty, fill.price);
        }
    }
    done
}

fn for_lobster(act: &Act) -> OrderType {
    match act {
        Act::Cancel(seq) => OrderType::Cancel { id: u128::from(*seq) },
        Act::Submit(order) => OrderType::Limit {
            id: u128::from(order.seq),
            side: if order.side == Side::Bid { lobster::Side::Bid } else { lobster::Side::Ask },
            qty: u64::from(order.count),
            price: u64::from(order.limit.get()),
        },
    }
}

pub(crate) fn measure(effort: Effort) -> Outcome<Vec<Row>> {
    let (turns, len) = if effort == Effort::Quick { (2, 100_000) } else { (9, 1_000_000) };
    let progress = Progress::new("matching");
    progress.say(&format!("drawing {len} orders and cancels"));
    let acts = stream(len)?;
    let same: Vec<OrderType> = acts.iter().map(for_lobster).collect();
    let expected = ours(&acts);
    if expected.fills == 0 || expected != theirs(&same) {
        return Err(format!("the books differ: {expected:?}, {:?}", theirs(&same)).into());
    }
    progress.say(&format!("{turns} rounds, {} fills each", expected.fills));
    let (mut own, mut other) = (Rounds::default(), Rounds::default());
    for _ in 0..turns {
        let started = Instant::now();
        let done = ours(&acts);
        own.add(figure(len) / started.elapsed().as_secs_f64());
        let started = Instant::now();
        let also = theirs(&same);
        other.add(figure(len) / started.elapsed().as_secs_f64());
        if done != expected || also != expected {
            return Err("a round of matching had other fills".into());
        }
    }
    let ratio = own.over(&other);
    let row = |what, rounds: &Rounds, shown: String, decimals| {
        Row::reported(Name::Matching, what, rounds.median(), shown, rounds.spread(decimals))
    };
    Ok(vec![
        row("orders and cancels a second", &own, format!("{:.0}/s", own.median()), 0),
        row("the same in lobster", &other, format!("{:.0}/s", other.median()), 0),
        row("over lobster", &ratio, format!("{:.2}", ratio.median()), 2).at_least(RATIO_MIN, "1.8"),
    ])
}

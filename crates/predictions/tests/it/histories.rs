//! Random histories: whatever people do, no cent and no contract appears or vanishes.

use kernel::id::Ids;
use predictions::rules::{
    order::{Kind, Terms, TimeInForce},
    price::{Action, Outcome},
};
use testkit::TestPlace;

use crate::world::{MARKET, OPEN_MS, World, terms};

const PEOPLE: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];

/// What people may be told; anything else is our mistake.
const REFUSALS: [&str; 6] = [
    "insufficient_balance",
    "position_too_small",
    "self_trade",
    "no_liquidity",
    "price_moved",
    "post_only_would_cross",
];

struct Dice<'a>(&'a dyn Ids);

impl Dice<'_> {
    fn roll(&self, sides: u8) -> u8 {
        let mut byte = [0];
        self.0.fill(&mut byte);
        byte[0] % sides
    }

    fn terms(&self, world: &World) -> Terms {
        let action = if self.roll(3) == 0 { Action::Sell } else { Action::Buy };
        let side = if self.roll(2) == 0 { Outcome::Yes } else { Outcome::No };
        let order = terms(action, side, 46 + i64::from(self.roll(9)), 1 + u32::from(self.roll(20)));
        match self.roll(10) {
            0 => Terms { kind: Kind::Market, tif: TimeInForce::Ioc, ..order },
            1 => Terms { tif: TimeInForce::Fok, ..order },
            2 => Terms { post_only: true, ..order },
            3 => {
                Terms { expires_at: Some(world.now().plus_ms(i64::from(self.roll(60)) * 1000 + 1)), ..order }
            }
            _ => order,
        }
    }
}

testkit::both_engines! {
    async fn no_cent_and_no_contract_appears_or_vanishes(place: TestPlace) {
        let world = World::new(&place, &PEOPLE).await;
        let nodes = [world.another_node(), world.another_node()];
        let dice = Dice(&*world.ids);
        let (mut open, mut filled, mut refused) = (Vec::new(), 0, 0);
        for act in 0..400 {
            let node = &nodes[usize::from(dice.roll(2))];
            let who = PEOPLE[usize::from(dice.roll(5))];
            match dice.roll(12) {
                0 => world.store.advance(i64::from(dice.roll(20)) * 500).unwrap(),
                1 | 2 if !open.is_empty() => {
                    let (owner, id): (&str, String) = open.swap_remove(usize::from(dice.roll(200)) % open.len());
                    node.cancel(owner, &id).await.unwrap();
                }
                _ => match node.send(who, dice.terms(node)).await {
                    Ok(receipt) => {
                        filled += receipt.order.filled;
                        open.push((who, receipt.order.id));
                    }
                    Err(fault) => {
                        refused += 1;
                        assert!(fault.code.is_some_and(|code| REFUSALS.contains(&code)), "{fault:?}");
                    }
                },
            }
            if act % 25 == 0 {
                assert_eq!(world.check().await, 5_000_000);
            }
        }
        assert!(filled > 100 && refused > 10, "a history in which little happened: {filled}, {refused}");
        world.store.advance(OPEN_MS).unwrap();
        let result = if dice.roll(2) == 0 { Outcome::Yes } else { Outcome::No };
        world.settle(MARKET, result).await;
        assert_eq!(world.check().await, 5_000_000);
    }
}

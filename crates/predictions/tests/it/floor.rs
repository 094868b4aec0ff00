//! Orders, positions, cash and settlement on both engines.

use std::sync::Arc;

use kernel::{Fault, tx::Verdict};
use predictions::{
    Reason, State, floor,
    rules::{
        order::{Kind, Terms, TimeInForce},
        price::{Action::*, Outcome::*},
    },
};
use testkit::TestPlace;

use crate::world::{DISPUTE_MS, MARKET, OPEN_MS, SCHEMAS, World, code, terms};

fn at_market(terms: Terms) -> Terms {
    Terms { kind: Kind::Market, tif: TimeInForce::Ioc, ..terms }
}

testkit::both_engines! {
    async fn every_statement_compiles(place: TestPlace) {
        testkit::prepare_all(&place, SCHEMAS, &predictions::statements());
    }

    async fn two_who_differ_make_a_contract_and_one_is_paid(place: TestPlace) {
        let world = World::new(&place, &["alpha", "beta"]).await;
        let bid = world.send("alpha", terms(Buy, Yes, 60, 10)).await.unwrap();
        assert_eq!((bid.order.state, bid.best_bid.unwrap().get(), bid.best_ask), (State::Resting, 60, None));
        // The other side of 60 cents is 40, and who asks for more pays no more.
        let taken = world.send("beta", terms(Buy, No, 45, 4)).await.unwrap();
        assert_eq!((taken.order.state, taken.order.money.to_string()), (State::Executed, "1.6".to_owned()));
        assert_eq!((world.cash("alpha").await, world.cash("beta").await), ("97.6".to_owned(), "98.4".to_owned()));
        world.check().await;
        // The rest of the bid is still there, and may be taken back once.
        let gone = world.cancel("alpha", &bid.order.id).await.unwrap();
        assert_eq!((gone.canceled, gone.order.filled, gone.order.state), (true, 4, State::Canceled));
        let again = world.cancel("alpha", &bid.order.id).await.unwrap();
        assert_eq!((again.canceled, again.order.reason), (false, Some(Reason::Canceled)));
        assert_eq!(code(world.cancel("beta", &bid.order.id).await), "order_not_found");
        let filled = world.cancel("beta", &taken.order.id).await.unwrap();
        assert_eq!((filled.canceled, filled.order.state), (false, State::Executed));
        world.store.advance(OPEN_MS).unwrap();
        world.settle(MARKET, Yes).await;
        assert_eq!((world.cash("alpha").await, world.cash("beta").await), ("101.6".to_owned(), "98.4".to_owned()));
        assert_eq!(world.check().await, 2_000_000);
    }

    async fn what_is_bought_is_sold_again(place: TestPlace) {
        let world = World::new(&place, &["alpha", "beta", "gamma"]).await;
        world.send("alpha", terms(Buy, Yes, 60, 10)).await.unwrap();
        world.send("beta", terms(Buy, No, 40, 10)).await.unwrap();
        assert_eq!(code(world.send("alpha", terms(Sell, Yes, 70, 11)).await), "position_too_small");
        assert_eq!(code(world.send("alpha", terms(Sell, No, 70, 1)).await), "position_too_small");
        let offer = world.send("alpha", terms(Sell, Yes, 70, 8)).await.unwrap();
        // What an offer has promised is not sold twice.
        assert_eq!(code(world.send("alpha", terms(Sell, Yes, 71, 3)).await), "position_too_small");
        world.send("gamma", at_market(terms(Buy, Yes, 1, 5))).await.unwrap();
        assert_eq!((world.cash("alpha").await, world.cash("gamma").await), ("97.5".to_owned(), "96.5".to_owned()));
        world.check().await;
        world.cancel("alpha", &offer.order.id).await.unwrap();
        // A sale of NO meets a sale of YES: the contract ends and both are paid of it.
        let no = world.send("beta", terms(Sell, No, 25, 5)).await.unwrap();
        assert_eq!((no.order.state, no.best_bid.unwrap().get()), (State::Resting, 75));
        let yes = world.send("alpha", at_market(terms(Sell, Yes, 1, 5))).await.unwrap();
        assert_eq!(yes.order.money.to_string(), "3.75");
        assert_eq!((world.cash("alpha").await, world.cash("beta").await), ("101.25".to_owned(), "97.25".to_owned()));
        world.check().await;
        world.store.advance(OPEN_MS).unwrap();
        world.settle(MARKET, No).await;
        assert_eq!((world.cash("beta").await, world.cash("gamma").await), ("102.25".to_owned(), "96.5".to_owned()));
        assert_eq!(world.check().await, 3_000_000);
    }

    async fn what_cannot_be_is_refused_and_changes_nothing(place: TestPlace) {
        let world = World::new(&place, &["alpha", "beta"]).await;
        world.send("alpha", terms(Buy, Yes, 60, 10)).await.unwrap();
        assert_eq!(code(world.send("alpha", terms(Buy, No, 40, 1)).await), "self_trade");
        // $94 is free.
        assert_eq!(code(world.send("alpha", terms(Buy, Yes, 50, 189)).await), "insufficient_balance");
        assert_eq!(world.send("alpha", terms(Buy, Yes, 50, 188)).await.unwrap().order.state, State::Resting);
        assert_eq!(code(world.send("alpha", terms(Buy, Yes, 1, 1)).await), "insufficient_balance");
        let post_only = Terms { post_only: true, ..terms(Buy, No, 40, 1) };
        assert_eq!(code(world.send("beta", post_only).await), "post_only_would_cross");
        let brief = Terms { tif: TimeInForce::Fok, ..terms(Buy, No, 40, 11) };
        assert_eq!(code(world.send("beta", brief).await), "price_moved");
        assert_eq!(code(world.send("beta", at_market(terms(Buy, No, 1, 199))).await), "no_liquidity");
        assert_eq!(code(world.send("beta", at_market(terms(Buy, Yes, 1, 1))).await), "no_liquidity");
        let mut nowhere = world.order("beta", terms(Buy, Yes, 1, 1));
        nowhere.ticker = "NOWHERE".to_owned();
        assert_eq!(code(world.place(nowhere).await), "market_not_found");
        let books = Arc::clone(&world.books);
        world.run(move |tx, _| floor::pause(tx, &books, MARKET, true)).await.unwrap();
        assert_eq!(code(world.send("beta", terms(Buy, Yes, 1, 1)).await), "market_paused");
        world.store.advance(OPEN_MS).unwrap();
        assert_eq!(code(world.send("beta", terms(Buy, Yes, 1, 1)).await), "market_closed");
        assert_eq!((world.cash("alpha").await, world.cash("beta").await), ("100".to_owned(), "100".to_owned()));
        let books = Arc::clone(&world.books);
        world.run(move |tx, _| floor::determine(tx, &books, MARKET, Yes)).await.unwrap();
        assert_eq!(code(world.send("beta", terms(Buy, Yes, 1, 1)).await), "market_settled");
        world.check().await;
    }

    async fn orders_end_with_their_time_and_with_their_market(place: TestPlace) {
        let world = World::new(&place, &["alpha", "beta"]).await;
        let brief = Terms { expires_at: Some(world.now().plus_ms(1000)), ..terms(Buy, Yes, 60, 100) };
        let brief = world.send("alpha", brief).await.unwrap();
        let lasting = world.send("alpha", terms(Buy, Yes, 40, 100)).await.unwrap();
        assert_eq!(code(world.send("alpha", terms(Buy, Yes, 40, 1)).await), "insufficient_balance");
        world.store.advance(1000).unwrap();
        // Nobody takes what has expired, and what it promised is free again.
        assert_eq!(code(world.send("beta", at_market(terms(Buy, No, 1, 101))).await), "no_liquidity");
        let told = world.cancel("alpha", &brief.order.id).await.unwrap();
        assert_eq!((told.canceled, told.order.reason), (false, Some(Reason::Expired)));
        world.send("alpha", terms(Buy, Yes, 41, 1)).await.unwrap();
        world.check().await;
        world.store.advance(OPEN_MS).unwrap();
        let books = Arc::clone(&world.books);
        assert_eq!(world.run(move |tx, ids| floor::sweep(tx, &books, ids, MARKET)).await.unwrap(), 2);
        let told = world.cancel("alpha", &lasting.order.id).await.unwrap();
        assert_eq!((told.canceled, told.order.reason), (false, Some(Reason::Closed)));
        world.check().await;
        world.settle(MARKET, No).await;
        assert_eq!((world.cash("alpha").await, world.check().await), ("100".to_owned(), 2_000_000));
    }

    async fn a_disputed_result_waits_for_another(place: TestPlace) {
        let world = World::new(&place, &["alpha", "beta"]).await;
        world.send("alpha", terms(Buy, Yes, 60, 10)).await.unwrap();
        world.send("beta", terms(Buy, No, 40, 10)).await.unwrap();
        let judge = async |result| {
            let books = Arc::clone(&world.books);
            world.run(move |tx, _| floor::determine(tx, &books, MARKET, result)).await
        };
        let pay = async || {
            let books = Arc::clone(&world.books);
            world.run(move |tx, ids| floor::finalize(tx, &books, ids, MARKET)).await
        };
        assert_eq!(code(judge(Yes).await), "invalid_request");
        world.store.advance(OPEN_MS).unwrap();
        judge(Yes).await.unwrap();
        assert_eq!(code(pay().await), "invalid_request");
        let books = Arc::clone(&world.books);
        world.run(move |tx, _| floor::dispute(tx, &books, MARKET)).await.unwrap();
        world.store.advance(DISPUTE_MS).unwrap();
        assert_eq!(code(pay().await), "market_settled");
        judge(No).await.unwrap();
        assert_eq!(pay().await.unwrap(), (2, true));
        assert_eq!(code(pay().await), "market_settled");
        assert_eq!((world.cash("alpha").await, world.cash("beta").await), ("94".to_owned(), "106".to_owned()));
        world.check().await;
    }

    /// A book in memory that was changed by a command which was rolled back is of no use.
    async fn what_is_rolled_back_never_was(place: TestPlace) {
        let world = World::new(&place, &["alpha", "beta", "gamma"]).await;
        world.send("alpha", terms(Buy, Yes, 60, 10)).await.unwrap();
        let (books, taken) = (Arc::clone(&world.books), world.order("beta", terms(Buy, No, 40, 10)));
        let rolled_back = world.run(move |tx, ids| {
            floor::place(tx, &books, ids, &taken)?;
            Err::<Verdict<()>, _>(Fault::internal("a neighbour failed"))
        });
        rolled_back.await.unwrap_err();
        let taken = world.send("gamma", at_market(terms(Buy, No, 1, 10))).await.unwrap();
        assert_eq!(taken.order.money.to_string(), "4");
        assert_eq!((world.cash("beta").await, world.cash("gamma").await), ("100".to_owned(), "96".to_owned()));
        world.check().await;
    }

    /// Two nodes match one market, each with a book of its own, at the same time.
    async fn two_nodes_have_one_book(place: TestPlace) {
        let world = World::new(&place, &["alpha", "beta", "gamma", "delta"]).await;
        let other = world.another_node();
        let orders = |world: &World| -> Vec<_> {
            (0..60)
                .map(|nth: u32| {
                    let who = ["alpha", "beta", "gamma", "delta"][nth as usize % 4];
                    let side = if nth.is_multiple_of(2) { Yes } else { No };
                    world.order(who, terms(Buy, side, 50, 1 + nth % 3))
                })
                .collect()
        };
        let (first, second) = (orders(&world), orders(&other));
        let send = async |node: &World, orders: Vec<floor::NewOrder>| {
            let mut placed = 0;
            for order in orders {
                match node.place(order).await {
                    Ok(_) => placed += 1,
                    Err(fault) => assert_eq!(fault.code, Some("self_trade"), "{fault:?}"),
                }
            }
            placed
        };
        let (one, two) = tokio::join!(send(&world, first), send(&other, second));
        assert!(one + two >= 60, "{one} and {two} of 120 orders were placed");
        world.check().await;
        // A third node reads the same book from the rows.
        let third = world.another_node();
        third.store.advance(OPEN_MS).unwrap();
        third.settle(MARKET, Yes).await;
        assert_eq!(third.check().await, 4_000_000);
    }
}

//! The ledger: nothing appears or vanishes, and every kind of damage is found.

use std::sync::Arc;

use kernel::{
    Fault,
    id::{DerivedIds, Ids, SeededIds},
    tx::{Sql, Verdict},
};
use store::{
    Store,
    ledger::{self, Account, Balance, Post},
};
use testkit::TestPlace;

use crate::commands::command;

const LEDGER: &str = "points";

kernel::statements! {
    MORE_BALANCE = "UPDATE balance SET available = available + 1 WHERE person = 'a'";
    LESS_LOCKED = "UPDATE balance SET locked = locked - 1, available = available + 1 WHERE person = 'b'";
    FORGED_ENTRY = "UPDATE entry SET delta = delta + 1 WHERE account = 'a.available' AND version = 1";
    FORGED_CHAIN = "UPDATE entry SET balance_after = balance_after + 1 WHERE account = 'a.available' AND version = 1";
    LOST_ENTRY = "DELETE FROM entry WHERE account = 'a.available' AND version = 2";
    FORGED_TRANSFER = "UPDATE transfer SET amount = amount + 1 WHERE kind = 'opening' AND credit = 'a.available'";
    LOST_TRANSFER = "DELETE FROM transfer WHERE kind = 'burn'";
    STRANGER = "UPDATE transfer SET credit = 'nobody.available' WHERE kind = 'burn'";
    SKIPPED_VERSION = "UPDATE balance SET available_version = available_version + 1 WHERE person = 'a'";
}

fn post(debit: Account, credit: Account, amount: i64, kind: &'static str) -> Post {
    Post { debit, credit, amount, kind }
}

fn available(person: &str) -> Account {
    Account::Available(person.to_owned())
}

fn locked(person: &str) -> Account {
    Account::Locked(person.to_owned())
}

async fn apply(store: &Store, seed: [u8; 16], posts: Vec<Post>) -> Result<(), Fault> {
    let run = move |tx: &mut dyn kernel::tx::Tx| {
        let ids = DerivedIds::new(seed);
        ledger::post(tx, LEDGER, &ids, "test", &posts).map(|_| Verdict::Done(()))
    };
    store.write(command(run)).await.map(|_| ())
}

async fn balance(store: &Store, person: &'static str) -> Balance {
    store.read(move |tx| ledger::balance(tx, LEDGER, person)).await.unwrap()
}

async fn audit(store: &Store) -> ledger::Audit {
    store.read(|tx| ledger::audit(tx, LEDGER)).await.unwrap()
}

/// Two people with 100 points each; b has 10 locked and a has burned 3.
async fn filled(place: &TestPlace) -> (Store, Arc<SeededIds>) {
    let (store, ids) = (place.open(&[]), Arc::new(SeededIds::new(3)));
    for person in ["a", "b"] {
        store.write(command(move |tx| ledger::open(tx, LEDGER, person).map(Verdict::Done))).await.unwrap();
        let opening = post(Account::Issuance, available(person), 100, "opening");
        apply(&store, ids.seed(), vec![opening]).await.unwrap();
    }
    let posts = vec![
        post(available("b"), locked("b"), 10, "stake"),
        post(available("a"), Account::Burn, 3, "burn"),
        post(available("a"), available("b"), 7, "transfer"),
    ];
    apply(&store, ids.seed(), posts).await.unwrap();
    (store, ids)
}

testkit::both_engines! {
    async fn posts_move_points_and_the_audit_adds_them_up(place: TestPlace) {
        let (store, _) = filled(&place).await;
        assert_eq!(balance(&store, "a").await, Balance { available: 90, locked: 0 });
        assert_eq!(balance(&store, "b").await, Balance { available: 97, locked: 10 });
        let audit = audit(&store).await;
        assert_eq!((audit.issued, audit.burned, audit.held, audit.locked), (200, 3, 197, 10));
        assert_eq!((audit.transfers, audit.violations), (5, Vec::new()));
    }

    async fn pools_are_sums_and_belong_to_the_whole(place: TestPlace) {
        let (store, ids) = filled(&place).await;
        let [escrow, house] = ["escrow:x", "house"].map(|name| Account::Pool(name.to_owned()));
        let posts = vec![
            post(available("a"), escrow.clone(), 40, "stake"),
            post(house, escrow.clone(), 60, "stake"),
            post(escrow, available("b"), 100, "payout"),
        ];
        apply(&store, ids.seed(), posts).await.unwrap();
        let audit = audit(&store).await;
        assert_eq!((audit.issued, audit.burned, audit.held), (200, 3, 257));
        let pools: Vec<(&str, i64)> = audit.pools.iter().map(|(name, sum)| (name.as_str(), *sum)).collect();
        assert_eq!((pools, audit.violations), (vec![("escrow:x", 0), ("house", -60)], Vec::new()));
    }

    async fn an_impossible_post_fails_whole(place: TestPlace) {
        let (store, ids) = filled(&place).await;
        for posts in [
            vec![post(available("a"), available("b"), 5, "x"), post(available("a"), Account::Burn, 86, "x")],
            vec![post(available("a"), available("b"), 0, "x")],
            vec![post(available("a"), available("b"), -1, "x")],
            vec![post(available("a"), available("a"), 1, "x")],
            vec![post(locked("a"), available("b"), 1, "x")],
            vec![post(available("a"), available("nobody"), 1, "x")],
        ] {
            assert!(apply(&store, ids.seed(), posts.clone()).await.is_err(), "{posts:?}");
        }
        assert_eq!(balance(&store, "a").await, Balance { available: 90, locked: 0 });
        assert_eq!(audit(&store).await.violations, Vec::<String>::new());
    }

    async fn every_kind_of_damage_is_found(place: TestPlace) {
        let damages: [(&'static Sql, &str); 9] = [
            (&MORE_BALANCE, "a.available holds 91"),
            (&LESS_LOCKED, "b.locked holds 9"),
            (&FORGED_ENTRY, "its entries say 91"),
            (&FORGED_CHAIN, "breaks its chain"),
            (&LOST_ENTRY, "entries up to version"),
            (&FORGED_TRANSFER, "its transfers say 91"),
            (&LOST_TRANSFER, "its transfers say 93"),
            (&STRANGER, "nobody.available moved without an account"),
            (&SKIPPED_VERSION, "of 4"),
        ];
        for (damage, words) in damages {
            let fresh = place.another();
            let (store, _) = filled(&fresh).await;
            store.write(command(move |tx| tx.exec(damage, &[]).map(Verdict::Done))).await.unwrap();
            let found = audit(&store).await.violations;
            assert!(found.iter().any(|text| text.contains(words)), "{}: {found:?}", damage.name);
            store.close();
        }
    }

    async fn random_posts_keep_every_sum(place: TestPlace) {
        let (store, ids) = (place.open(&[]), Arc::new(SeededIds::new(9)));
        let people = ["a", "b", "c"];
        for person in people {
            store.write(command(move |tx| ledger::open(tx, LEDGER, person).map(Verdict::Done))).await.unwrap();
        }
        let accounts: Vec<Account> = people
            .iter()
            .flat_map(|person| [available(person), locked(person)])
            .chain([Account::Issuance, Account::Burn])
            .collect();
        let mut model = vec![0i64; accounts.len()];
        let mut applied = 0;
        for _ in 0..300 {
            let mut dice = [0; 4];
            ids.fill(&mut dice);
            let (from, to) = (usize::from(dice[0]) % accounts.len(), usize::from(dice[1]) % accounts.len());
            let amount = i64::from(dice[2] % 20);
            let possible = from != to
                && amount > 0
                && (matches!(accounts[from], Account::Issuance | Account::Burn) || model[from] >= amount);
            let posted = apply(
                &store,
                ids.seed(),
                vec![post(accounts[from].clone(), accounts[to].clone(), amount, "random")],
            )
            .await;
            assert_eq!(posted.is_ok(), possible, "{from} {to} {amount} {model:?}");
            if possible {
                model[from] -= amount;
                model[to] += amount;
                applied += 1;
            }
        }
        assert!(applied > 50);
        for (index, person) in people.iter().enumerate() {
            let held = balance(&store, person).await;
            assert_eq!((held.available, held.locked), (model[index * 2], model[index * 2 + 1]));
        }
        let audit = audit(&store).await;
        assert_eq!((audit.issued, audit.burned), (-model[6], model[7]));
        let expected = usize::from(model[7] < 0);
        assert_eq!(audit.violations.len(), expected, "only a negative burn is wrong: {:?}", audit.violations);
    }
}

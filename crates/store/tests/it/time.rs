//! Arena time never runs back.

use std::sync::Arc;

use kernel::{Moment, tx::Verdict};
use store::Store;
use testkit::{StillClock, TestPlace};

use crate::commands::{SCHEMA, SET_BACK, all, command, done};

fn now(store: &Store) -> Moment {
    store.now().unwrap()
}

async fn now_in_command(store: &Store) -> Moment {
    done(store.write(command(|tx| Ok(Verdict::Done(tx.now())))).await)
}

const HOUR_MS: i64 = 3_600_000;

testkit::both_engines! {
    async fn a_store_that_was_opened_again_goes_on(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        store.set_speed(60_000).unwrap();
        store.advance(HOUR_MS).unwrap();
        let (anchor, before) = (store.anchor().unwrap(), now_in_command(&store).await);
        store.close();
        let store = place.open(&[SCHEMA]);
        assert_eq!(store.anchor(), Ok(anchor));
        assert_eq!(anchor.speed_milli, 60_000);
        assert!(now(&store) >= before);
        assert!(now_in_command(&store).await >= before);
    }

    async fn changes_of_speed_and_jumps_never_go_back(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let mut last = now(&store);
        for (speed, ahead) in [(1_000_000, 5), (0, 0), (1000, 60_000), (0, 1), (3000, 0)] {
            store.set_speed(speed).unwrap();
            let after_speed = now(&store);
            store.advance(ahead).unwrap();
            let after_jump = now_in_command(&store).await;
            assert!(after_speed >= last && after_jump >= after_speed.plus_ms(ahead), "{speed} {ahead}");
            last = after_jump;
        }
        store.set_speed(0).unwrap();
        let still = now(&store);
        assert_eq!(now_in_command(&store).await, still, "a clock at speed 0 stands");
        for wrong in [-1, i64::MAX] {
            assert!(store.set_speed(wrong).is_err() && store.advance(wrong).is_err());
        }
        assert_eq!(now(&store), still);
    }

    async fn readers_and_writers_agree_while_the_speed_changes(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let changer = store.clone();
        let changes = std::thread::spawn(move || {
            for round in 0..20 {
                changer.set_speed(if round % 2 == 0 { 500_000 } else { 1000 }).unwrap();
                changer.advance(10).unwrap();
            }
        });
        all(4, |_| {
            let store = store.clone();
            async move {
                let mut last = Moment::from_millis(0);
                for _ in 0..50 {
                    let read = store.read(|tx| Ok(tx.now())).await.unwrap();
                    let written = now_in_command(&store).await;
                    assert!(read >= last && written >= read, "{last} {read} {written}");
                    last = written;
                }
            }
        }).await;
        changes.join().unwrap();
    }

    async fn a_real_clock_an_hour_behind_holds_time_still(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        store.advance(5000).unwrap();
        let before = now_in_command(&store).await;
        // Moving the anchor's instant into the future is what a clock set back looks like.
        done(store.write(command(move |tx| {
            tx.exec(&SET_BACK, &[HOUR_MS.into(), before.into()]).map(Verdict::Done)
        })).await);
        let held = now_in_command(&store).await;
        assert!(held >= before);
        store.close();
        let store = place.open(&[SCHEMA]);
        let after = now(&store);
        assert!(after >= before, "{before} {after}");
        store.set_speed(2000).unwrap();
        assert!(now(&store) >= after);
    }

    async fn a_lock_reads_the_clock_anew(place: TestPlace) {
        let store = place.open(&[SCHEMA]);
        let times = done(store.write(command(|tx| {
            let before = (tx.now(), tx.real_ms());
            while tx.real_ms() <= before.1 {
                tx.lock(&["a".to_owned(), "b".to_owned(), "a".to_owned()])?;
            }
            Ok(Verdict::Done((before.0, tx.now())))
        })).await);
        assert!(times.1 > times.0, "{times:?}");
    }
}

#[test]
fn a_clock_set_back_under_sqlite_is_survived_by_reopening() {
    let place = TestPlace::sqlite();
    let clock = StillClock::at(1_800_000_000_000);
    let open = || {
        let mut options = place.options(&[SCHEMA]);
        options.clock = Arc::new(clock.clone());
        Store::open(options).unwrap()
    };
    let store = open();
    clock.shift(10 * HOUR_MS);
    let high = now(&store);
    assert_eq!(high.as_millis(), 1_800_000_000_000 + 10 * HOUR_MS);
    clock.shift(-9 * HOUR_MS);
    assert_eq!(now(&store), high, "it holds while open");
    store.close();
    let store = open();
    assert_eq!(now(&store), high, "and after reopening");
    clock.shift(9 * HOUR_MS + 1);
    assert_eq!(now(&store), high.plus_ms(1), "and goes on when real time has caught up");
}

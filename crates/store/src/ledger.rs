//! Double entry, append only: every movement is a transfer from one account to another.
//!
//! People have an available and a locked balance, kept as a row and as a chain of entries. The system
//! accounts `issuance`, `burn` and the pools of a product have neither: they are sums over transfers. Nothing
//! here knows why points move; the reason is the transfer's `kind` and `reference`.

use std::collections::BTreeMap;

use kernel::{
    Fault, Moment,
    id::Ids,
    tx::{Tx, Val},
};

kernel::statements! {
    OPEN = "INSERT INTO balance (ledger, person, available, locked, available_version, locked_version) VALUES ($1, $2, 0, 0, 0, 0)";
    BALANCE = "SELECT available, locked, available_version, locked_version FROM balance WHERE ledger = $1 AND person = $2";
    SET_BALANCE = "UPDATE balance SET available = $3, locked = $4, available_version = $5, locked_version = $6 WHERE ledger = $1 AND person = $2";
    ADD_TRANSFER = "INSERT INTO transfer (id, ledger, debit, credit, amount, kind, reference, at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    ADD_ENTRY = "INSERT INTO entry (ledger, account, version, transfer, delta, balance_after) VALUES ($1, $2, $3, $4, $5, $6)";
    BALANCES_OF = "SELECT person, available, locked FROM balance WHERE ledger = $1 AND person IN ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)";
    BALANCES = "SELECT person, available, locked, available_version, locked_version FROM balance WHERE ledger = $1 ORDER BY person";
    ENTRY_SUMS = "SELECT account, CAST(SUM(delta) AS BIGINT), COUNT(*), MAX(version) FROM entry WHERE ledger = $1 GROUP BY account";
    BROKEN_LINKS = "SELECT e.account, e.version FROM entry e LEFT JOIN entry p ON p.ledger = e.ledger AND p.account = e.account AND p.version = e.version - 1 WHERE e.ledger = $1 AND e.balance_after <> e.delta + COALESCE(p.balance_after, 0) ORDER BY e.account, e.version LIMIT 10";
    DEBITS = "SELECT debit, CAST(SUM(amount) AS BIGINT) FROM transfer WHERE ledger = $1 GROUP BY debit";
    CREDITS = "SELECT credit, CAST(SUM(amount) AS BIGINT) FROM transfer WHERE ledger = $1 GROUP BY credit";
    TRANSFERS = "SELECT COUNT(*) FROM transfer WHERE ledger = $1";
}

/// The start of the names of pools.
const POOL: &str = "pool:";

/// A side of a transfer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Account {
    /// Where points come from; it is negative.
    Issuance,
    /// Where points end.
    Burn,
    /// What belongs to nobody yet or to the house, by a name without a dot: the product says what it may hold.
    Pool(String),
    /// What a person may spend.
    Available(String),
    /// What a person has at stake.
    Locked(String),
}

impl Account {
    fn name(&self) -> String {
        match self {
            Self::Issuance => "issuance".to_owned(),
            Self::Burn => "burn".to_owned(),
            Self::Pool(name) => [POOL, name].concat(),
            Self::Available(person) => format!("{person}.available"),
            Self::Locked(person) => format!("{person}.locked"),
        }
    }

    fn person(&self) -> Option<&str> {
        match self {
            Self::Issuance | Self::Burn | Self::Pool(_) => None,
            Self::Available(person) | Self::Locked(person) => Some(person),
        }
    }
}

/// One movement. `amount` is positive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    pub debit: Account,
    pub credit: Account,
    pub amount: i64,
    /// What kind of movement, for example `stake`.
    pub kind: &'static str,
}

/// What a person has, in whole units of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balance {
    pub available: i64,
    pub locked: i64,
}

impl Balance {
    pub const fn total(self) -> i64 {
        self.available + self.locked
    }
}

/// Opens a person's account with nothing in it.
pub fn open(tx: &mut dyn Tx, ledger: &str, person: &str) -> Result<(), Fault> {
    tx.exec(&OPEN, &[ledger.into(), person.into()]).map(|_| ())
}

/// A person's balance. An account that was never opened is our mistake, not a zero.
pub fn balance(tx: &mut dyn Tx, ledger: &str, person: &str) -> Result<Balance, Fault> {
    load(tx, ledger, person).map(|held| held.balance)
}

/// How many people [`balances`] takes at once.
pub const BALANCES_MAX: usize = 20;

/// The balances of at most [`BALANCES_MAX`] people; one without an account is left out.
pub fn balances(tx: &mut dyn Tx, ledger: &str, people: &[&str]) -> Result<BTreeMap<String, Balance>, Fault> {
    let mut args = vec![Val::from(ledger)];
    // Nobody has the empty name, so it stands where there are fewer.
    args.extend((0..BALANCES_MAX).map(|at| Val::from(people.get(at).copied().unwrap_or(""))));
    tx.rows(&BALANCES_OF, &args)?
        .iter()
        .map(|row| Ok((row.text(0)?, Balance { available: row.i64(1)?, locked: row.i64(2)? })))
        .collect()
}

#[derive(Debug, Clone, Copy)]
struct Held {
    balance: Balance,
    available_version: i64,
    locked_version: i64,
}

fn load(tx: &mut dyn Tx, ledger: &str, person: &str) -> Result<Held, Fault> {
    let row = tx
        .row(&BALANCE, &[ledger.into(), person.into()])?
        .ok_or_else(|| Fault::internal(format_args!("{person} has no account in ledger {ledger}")))?;
    Ok(Held {
        balance: Balance { available: row.i64(0)?, locked: row.i64(1)? },
        available_version: row.i64(2)?,
        locked_version: row.i64(3)?,
    })
}

impl Held {
    /// Applies a signed change and returns the entry's version and balance.
    fn apply(&mut self, account: &Account, delta: i64) -> Result<(i64, i64), Fault> {
        let (balance, version) = match account {
            Account::Available(_) => (&mut self.balance.available, &mut self.available_version),
            Account::Locked(_) => (&mut self.balance.locked, &mut self.locked_version),
            Account::Issuance | Account::Burn | Account::Pool(_) => {
                return Err(Fault::internal("a system account has no balance row"));
            }
        };
        *balance = balance
            .checked_add(delta)
            .filter(|after| *after >= 0)
            .ok_or_else(|| Fault::internal(format_args!("{} cannot change by {delta}", account.name())))?;
        *version += 1;
        Ok((*version, *balance))
    }
}

/// Applies all `posts` or none, and returns the balance after them of every person they touch.
///
/// The caller holds the locks of those people and has checked that they can pay: a balance below
/// zero here is a bug and fails the command.
pub fn post(
    tx: &mut dyn Tx,
    ledger: &str,
    ids: &dyn Ids,
    reference: &str,
    posts: &[Post],
) -> Result<BTreeMap<String, Balance>, Fault> {
    let at = tx.now();
    let mut held: BTreeMap<String, Held> = BTreeMap::new();
    for person in posts.iter().flat_map(|post| [post.debit.person(), post.credit.person()]).flatten() {
        if !held.contains_key(person) {
            held.insert(person.to_owned(), load(tx, ledger, person)?);
        }
    }
    let mut transfers = Vec::with_capacity(posts.len());
    let mut entries = Vec::with_capacity(posts.len() * 2);
    for post in posts {
        if post.amount <= 0 || post.debit == post.credit {
            return Err(Fault::internal(format_args!("not a transfer: {post:?}")));
        }
        let id = ids.uuid7(at);
        for (account, delta) in [(&post.debit, -post.amount), (&post.credit, post.amount)] {
            let Some(held) = account.person().and_then(|person| held.get_mut(person)) else { continue };
            let (version, after) = held.apply(account, delta)?;
            entries.push(vec![
                ledger.into(),
                account.name().into(),
                version.into(),
                Val::from(&id),
                delta.into(),
                after.into(),
            ]);
        }
        transfers.push(transfer_row(id, ledger, post, reference, at));
    }
    tx.exec_many(&ADD_TRANSFER, &transfers)?;
    tx.exec_many(&ADD_ENTRY, &entries)?;
    let rows: Vec<Vec<Val>> = held
        .iter()
        .map(|(person, held)| {
            vec![
                ledger.into(),
                person.into(),
                held.balance.available.into(),
                held.balance.locked.into(),
                held.available_version.into(),
                held.locked_version.into(),
            ]
        })
        .collect();
    tx.exec_many(&SET_BALANCE, &rows)?;
    Ok(held.into_iter().map(|(person, held)| (person, held.balance)).collect())
}

fn transfer_row(id: String, ledger: &str, post: &Post, reference: &str, at: Moment) -> Vec<Val> {
    vec![
        id.into(),
        ledger.into(),
        post.debit.name().into(),
        post.credit.name().into(),
        post.amount.into(),
        post.kind.into(),
        reference.into(),
        at.into(),
    ]
}

/// The sums of a ledger, and every way in which it contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audit {
    pub transfers: i64,
    pub issued: i64,
    pub burned: i64,
    /// Available and locked of all people.
    pub held: i64,
    /// The part of `held` that is locked.
    pub locked: i64,
    /// What each pool holds that ever moved.
    pub pools: BTreeMap<String, i64>,
    /// Empty when the ledger holds.
    pub violations: Vec<String>,
}

/// Reads the whole ledger and checks it: sums are zero, chains have no gap, balances equal their
/// entries and their transfers, and nothing but issuance is negative.
pub fn audit(tx: &mut dyn Tx, ledger: &str) -> Result<Audit, Fault> {
    let transfers = tx.row(&TRANSFERS, &[ledger.into()])?.map_or(Ok(0), |row| row.i64(0))?;
    let mut audit = Audit { transfers, ..Audit::default() };
    let mut by_transfers: BTreeMap<String, i64> = BTreeMap::new();
    for (sql, sign) in [(&DEBITS, -1), (&CREDITS, 1)] {
        for row in tx.rows(sql, &[ledger.into()])? {
            *by_transfers.entry(row.text(0)?).or_default() += sign * row.i64(1)?;
        }
    }
    audit.issued = -by_transfers.remove("issuance").unwrap_or(0);
    audit.burned = by_transfers.remove("burn").unwrap_or(0);
    let pools = by_transfers.extract_if(POOL.to_owned()..end_of_pools(), |_, _| true);
    audit.pools = pools.map(|(name, sum)| (name[POOL.len()..].to_owned(), sum)).collect();
    let mut by_entries: BTreeMap<String, (i64, i64, i64)> = BTreeMap::new();
    for row in tx.rows(&ENTRY_SUMS, &[ledger.into()])? {
        by_entries.insert(row.text(0)?, (row.i64(1)?, row.i64(2)?, row.i64(3)?));
    }
    for row in tx.rows(&BALANCES, &[ledger.into()])? {
        let person = row.text(0)?;
        audit.held += row.i64(1)? + row.i64(2)?;
        audit.locked += row.i64(2)?;
        for (account, balance, version) in [
            (Account::Available(person.clone()), row.i64(1)?, row.i64(3)?),
            (Account::Locked(person.clone()), row.i64(2)?, row.i64(4)?),
        ] {
            let name = account.name();
            let moved = by_transfers.remove(&name).unwrap_or(0);
            let (sum, count, last) = by_entries.remove(&name).unwrap_or((0, 0, 0));
            for (holds, what) in [
                (balance >= 0, format!("is negative: {balance}")),
                (balance == moved, format!("holds {balance}, its transfers say {moved}")),
                (balance == sum, format!("holds {balance}, its entries say {sum}")),
                (
                    count == last && last == version,
                    format!("has {count} entries up to version {last} of {version}"),
                ),
            ] {
                if !holds {
                    audit.violations.push(format!("{name} {what}"));
                }
            }
        }
    }
    let strangers = by_transfers.keys().chain(by_entries.keys()).collect::<std::collections::BTreeSet<_>>();
    audit.violations.extend(strangers.into_iter().map(|name| format!("{name} moved without an account")));
    for row in tx.rows(&BROKEN_LINKS, &[ledger.into()])? {
        audit.violations.push(format!("{} breaks its chain at version {}", row.text(0)?, row.i64(1)?));
    }
    if audit.burned < 0 {
        audit.violations.push(format!("burn is negative: {}", audit.burned));
    }
    let pooled: i64 = audit.pools.values().sum();
    if audit.issued - audit.burned != audit.held + pooled {
        let Audit { issued, burned, held, .. } = audit;
        audit
            .violations
            .push(format!("issued {issued} minus burned {burned} is not held {held} and pooled {pooled}"));
    }
    Ok(audit)
}

/// The first name after those of all pools.
fn end_of_pools() -> String {
    POOL.replace(':', ";")
}

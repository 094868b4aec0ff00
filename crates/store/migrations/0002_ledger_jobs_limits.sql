-- Balances exist for people only; issuance, burn and houses are sums over transfers, because a row
-- that every settlement updates would serialise all of them.
CREATE TABLE balance (
  ledger TEXT NOT NULL,
  person TEXT NOT NULL,
  available INTEGER NOT NULL CHECK (available >= 0),
  locked INTEGER NOT NULL CHECK (locked >= 0),
  available_version INTEGER NOT NULL,
  locked_version INTEGER NOT NULL,
  PRIMARY KEY (ledger, person)
) STRICT, WITHOUT ROWID;

CREATE TABLE transfer (
  id TEXT NOT NULL PRIMARY KEY,
  ledger TEXT NOT NULL,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  kind TEXT NOT NULL,
  reference TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  CHECK (debit <> credit)
) STRICT, WITHOUT ROWID;

-- One row for each change of one person's available or locked balance, chained by version.
CREATE TABLE entry (
  ledger TEXT NOT NULL,
  account TEXT NOT NULL,
  version INTEGER NOT NULL,
  transfer TEXT NOT NULL,
  delta INTEGER NOT NULL,
  balance_after INTEGER NOT NULL CHECK (balance_after >= 0),
  PRIMARY KEY (ledger, account, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  channel TEXT NOT NULL,
  payload TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'dead')),
  run_at_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  lease_token TEXT,
  lease_until_ms INTEGER,
  last_error TEXT,
  created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX job_due ON job (kind, run_at_ms) WHERE state <> 'dead';
CREATE INDEX job_channel ON job (channel, id) WHERE state <> 'dead';

-- A ring of the last admitted instants a subject: slot = number of the hit modulo the ring's size.
CREATE TABLE rate (
  subject TEXT NOT NULL PRIMARY KEY,
  total INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE rate_hit (
  subject TEXT NOT NULL,
  slot INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (subject, slot)
) STRICT, WITHOUT ROWID;

-- Money is in units of $0.0001. Cash is in the ledger; here is only what of it is promised to resting orders.
CREATE TABLE trader (
  person TEXT NOT NULL PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  held INTEGER NOT NULL CHECK (held >= 0),
  opened_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- `seq` counts the orders of a market and `tag` names its newest change, so that a copy of its book in memory
-- can tell whether it is the present one.
CREATE TABLE market (
  ticker TEXT NOT NULL PRIMARY KEY,
  instrument TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  rules TEXT NOT NULL,
  source TEXT NOT NULL,
  creator TEXT NOT NULL,
  opens_ms INTEGER NOT NULL,
  closes_ms INTEGER NOT NULL CHECK (closes_ms > opens_ms),
  dispute_ms INTEGER NOT NULL CHECK (dispute_ms >= 0),
  is_paused INTEGER NOT NULL,
  verdict TEXT CHECK (verdict IN ('determined', 'disputed', 'amended', 'finalized')),
  result TEXT CHECK (result IN ('yes', 'no')),
  determined_ms INTEGER,
  finalized_ms INTEGER,
  seq INTEGER NOT NULL,
  tag INTEGER NOT NULL,
  due_ms INTEGER,
  last_price INTEGER CHECK (last_price BETWEEN 1 AND 99),
  volume INTEGER NOT NULL,
  fills INTEGER NOT NULL,
  open_interest INTEGER NOT NULL CHECK (open_interest >= 0),
  CHECK ((verdict IS NULL) = (determined_ms IS NULL)),
  CHECK (verdict IS NULL OR result IS NOT NULL)
) STRICT;

-- `limit_price` is of the order's own side; a market order has the one that accepts any price.
CREATE TABLE trade_order (
  id TEXT NOT NULL PRIMARY KEY,
  market TEXT NOT NULL,
  seq INTEGER NOT NULL,
  person TEXT NOT NULL,
  trade TEXT,
  action TEXT NOT NULL CHECK (action IN ('buy', 'sell')),
  side TEXT NOT NULL CHECK (side IN ('yes', 'no')),
  kind TEXT NOT NULL CHECK (kind IN ('market', 'limit')),
  limit_price INTEGER NOT NULL CHECK (limit_price BETWEEN 1 AND 99),
  count INTEGER NOT NULL CHECK (count > 0),
  filled INTEGER NOT NULL CHECK (filled BETWEEN 0 AND count),
  money INTEGER NOT NULL CHECK (money >= 0),
  waits INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('resting', 'executed', 'canceled')),
  reason TEXT,
  expires_ms INTEGER,
  client TEXT,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  UNIQUE (market, seq)
) STRICT;
CREATE INDEX trade_order_resting ON trade_order (market, seq) WHERE state = 'resting';
CREATE INDEX trade_order_person ON trade_order (person, created_ms);

CREATE TABLE fill (
  market TEXT NOT NULL,
  nth INTEGER NOT NULL,
  taker_order TEXT NOT NULL,
  maker_order TEXT NOT NULL,
  taker_side TEXT NOT NULL CHECK (taker_side IN ('bid', 'ask')),
  price INTEGER NOT NULL CHECK (price BETWEEN 1 AND 99),
  count INTEGER NOT NULL CHECK (count > 0),
  filled_ms INTEGER NOT NULL,
  PRIMARY KEY (market, nth)
) STRICT, WITHOUT ROWID;

-- What a person holds of one side, and how much of it resting offers have promised.
CREATE TABLE position (
  person TEXT NOT NULL,
  market TEXT NOT NULL,
  side TEXT NOT NULL CHECK (side IN ('yes', 'no')),
  count INTEGER NOT NULL CHECK (count >= 0),
  promised INTEGER NOT NULL CHECK (promised BETWEEN 0 AND count),
  PRIMARY KEY (person, market, side)
) STRICT, WITHOUT ROWID;

-- A trade: what one order bought. `cost` is of what is still open.
CREATE TABLE trade (
  id TEXT NOT NULL PRIMARY KEY,
  person TEXT NOT NULL,
  market TEXT NOT NULL,
  side TEXT NOT NULL CHECK (side IN ('yes', 'no')),
  count INTEGER NOT NULL CHECK (count > 0),
  open_count INTEGER NOT NULL CHECK (open_count BETWEEN 0 AND count),
  paid INTEGER NOT NULL,
  cost INTEGER NOT NULL CHECK (cost >= 0),
  proceeds INTEGER NOT NULL CHECK (proceeds >= 0),
  client TEXT,
  opened_ms INTEGER NOT NULL,
  closed_ms INTEGER,
  CHECK ((open_count = 0) = (closed_ms IS NOT NULL))
) STRICT;
CREATE INDEX trade_open ON trade (market, person, side, opened_ms, id) WHERE open_count > 0;
CREATE INDEX trade_person ON trade (person, opened_ms);

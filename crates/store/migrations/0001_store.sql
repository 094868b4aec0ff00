-- Arena time: one row, written when the store is first opened (clock.rs).
CREATE TABLE arena_clock (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  real0_ms INTEGER NOT NULL,
  arena0_ms INTEGER NOT NULL,
  speed_milli INTEGER NOT NULL CHECK (speed_milli >= 0),
  -- Arena time was at least this: a real clock that was set back cannot repeat it.
  high_ms INTEGER NOT NULL
) STRICT;

-- Answers of commands that ran under an idempotency key, and the marks of commits in flight (once.rs).
CREATE TABLE once (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  hash BLOB NOT NULL,
  answer TEXT,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX once_created ON once (created_ms);

-- Counters of Tx::next_number where the engine has no sequences of its own.
CREATE TABLE sequence (
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

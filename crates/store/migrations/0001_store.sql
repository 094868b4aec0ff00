-- Arena time: one row (clock.rs).
CREATE TABLE arena_clock (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  real0_ms INTEGER NOT NULL,
  arena0_ms INTEGER NOT NULL,
  speed_milli INTEGER NOT NULL CHECK (speed_milli >= 0),
  -- Arena time was at least this: a real clock that was set back cannot repeat it.
  high_ms INTEGER NOT NULL
) STRICT;
-- At first Arena time is real time: from any instant on, a second lasts a second.
INSERT INTO arena_clock (id, real0_ms, arena0_ms, speed_milli, high_ms) VALUES (1, 0, 0, 1000, 0);

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

-- Counters of Tx::next_number; where the engine has sequences of its own, the names of those made.
CREATE TABLE sequence (
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

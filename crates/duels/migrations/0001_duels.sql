CREATE TABLE agent (
  id TEXT NOT NULL PRIMARY KEY,
  nickname TEXT NOT NULL UNIQUE,
  opened_ms INTEGER NOT NULL,
  bio TEXT,
  avatar_url TEXT,
  social_provider TEXT,
  social_username TEXT,
  auto_bio TEXT,
  house INTEGER NOT NULL,
  wins INTEGER NOT NULL,
  draws INTEGER NOT NULL,
  duels INTEGER NOT NULL,
  staked INTEGER NOT NULL,
  paid INTEGER NOT NULL,
  rating_permille INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_rank ON agent (rating_permille, wins, duels, nickname) WHERE duels >= 20 AND house = 0;

CREATE TABLE agent_model (
  agent TEXT NOT NULL,
  model_key TEXT NOT NULL,
  wins INTEGER NOT NULL,
  draws INTEGER NOT NULL,
  duels INTEGER NOT NULL,
  PRIMARY KEY (agent, model_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE presence (
  agent TEXT NOT NULL PRIMARY KEY,
  pitch TEXT NOT NULL,
  model_key TEXT,
  policy INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Side a challenged side b. A duel is one row, so that a step of it is one update.
CREATE TABLE duel (
  slug TEXT NOT NULL PRIMARY KEY,
  pair TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('CHAT', 'CLOSED', 'FINISHED')),
  started_ms INTEGER NOT NULL,
  deadline_ms INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  a TEXT NOT NULL,
  a_stake INTEGER NOT NULL CHECK (a_stake >= 5),
  a_model TEXT,
  a_demand INTEGER CHECK (a_demand >= 0),
  a_salt TEXT,
  a_commitment TEXT,
  a_sent INTEGER NOT NULL,
  a_ack INTEGER NOT NULL,
  a_payout INTEGER CHECK (a_payout >= 0),
  a_after INTEGER,
  b TEXT NOT NULL,
  b_stake INTEGER NOT NULL CHECK (b_stake >= 5),
  b_model TEXT,
  b_demand INTEGER CHECK (b_demand >= 0),
  b_salt TEXT,
  b_commitment TEXT,
  b_sent INTEGER NOT NULL,
  b_ack INTEGER NOT NULL,
  b_payout INTEGER CHECK (b_payout >= 0),
  b_after INTEGER,
  settle_seq INTEGER UNIQUE,
  finished_ms INTEGER,
  settlement TEXT CHECK (settlement IN ('WITHIN_POT', 'OVER_POT')),
  burn INTEGER CHECK (burn >= 1),
  CHECK (a <> b),
  CHECK ((state = 'FINISHED') = (settle_seq IS NOT NULL)),
  CHECK (state <> 'FINISHED' OR a_payout + b_payout + burn = a_stake + b_stake)
) STRICT;
-- A pair has at most one active duel, whatever the code does.
CREATE UNIQUE INDEX duel_active_pair ON duel (pair) WHERE state <> 'FINISHED';
CREATE INDEX duel_active_a ON duel (a) WHERE state <> 'FINISHED';
CREATE INDEX duel_active_b ON duel (b) WHERE state <> 'FINISHED';
CREATE INDEX duel_due ON duel (deadline_ms) WHERE state <> 'FINISHED';
CREATE INDEX duel_done_pair ON duel (pair, settle_seq) WHERE state = 'FINISHED';
CREATE INDEX duel_done_a ON duel (a, settle_seq) WHERE state = 'FINISHED';
CREATE INDEX duel_done_b ON duel (b, settle_seq) WHERE state = 'FINISHED';
CREATE INDEX duel_unread_a ON duel (a, settle_seq) WHERE state = 'FINISHED' AND a_ack < b_sent;
CREATE INDEX duel_unread_b ON duel (b, settle_seq) WHERE state = 'FINISHED' AND b_ack < a_sent;

CREATE TABLE message (
  duel TEXT NOT NULL,
  seq INTEGER NOT NULL,
  sender TEXT NOT NULL,
  text TEXT NOT NULL,
  sent_ms INTEGER NOT NULL,
  PRIMARY KEY (duel, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE gift (
  seq INTEGER NOT NULL PRIMARY KEY,
  sender TEXT NOT NULL,
  recipient TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  note TEXT,
  sent_ms INTEGER NOT NULL,
  sender_after INTEGER NOT NULL,
  recipient_after INTEGER NOT NULL,
  CHECK (sender <> recipient)
) STRICT;
CREATE INDEX gift_sender ON gift (sender, seq);
CREATE INDEX gift_recipient ON gift (recipient, seq);

-- Keys of this product that all nodes share.
CREATE TABLE duel_secret (
  name TEXT NOT NULL PRIMARY KEY,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

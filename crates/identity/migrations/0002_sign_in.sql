-- How people prove who they are in a browser, and what they let programs do in their name. Whatever is a
-- secret of somebody else's is kept as its SHA-256.

-- Every way by which the person can sign in, ascending, separated by spaces: what each call would have to
-- gather from two tables.
ALTER TABLE person ADD COLUMN providers TEXT NOT NULL DEFAULT '';

-- An account of another issuer that belongs to a person. The label is what people see: a name or an address.
CREATE TABLE login (
  provider TEXT NOT NULL,
  subject TEXT NOT NULL,
  person TEXT NOT NULL REFERENCES person (id),
  label TEXT NOT NULL,
  linked_ms INTEGER NOT NULL,
  PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX login_person ON login (person, provider, subject);

CREATE TABLE password (
  person TEXT NOT NULL PRIMARY KEY REFERENCES person (id),
  hash TEXT NOT NULL,
  set_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A browser that is signed in.
CREATE TABLE session (
  hash BLOB NOT NULL PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  person TEXT NOT NULL REFERENCES person (id),
  provider TEXT NOT NULL,
  label TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  seen_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_person ON session (person, created_ms);
CREATE INDEX session_expires ON session (expires_ms);

-- A sign-in that is under way at another issuer, found again by the state that comes back. It counts only
-- in the browser that began it.
CREATE TABLE departure (
  hash BLOB NOT NULL PRIMARY KEY,
  browser BLOB NOT NULL,
  provider TEXT NOT NULL,
  nonce TEXT NOT NULL,
  verifier TEXT NOT NULL,
  back TEXT NOT NULL,
  person TEXT,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX departure_expires ON departure (expires_ms);

-- Somebody who has proven an account of another issuer and has not chosen a nickname yet.
CREATE TABLE newcomer (
  hash BLOB NOT NULL PRIMARY KEY,
  provider TEXT NOT NULL,
  subject TEXT NOT NULL,
  label TEXT NOT NULL,
  suggested TEXT,
  back TEXT NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX newcomer_expires ON newcomer (expires_ms);

-- A program that registered itself. Clients that are documents on the web are not kept here.
CREATE TABLE oauth_client (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  used_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_client_used ON oauth_client (used_ms);

-- What a client asked for, while the person reads it.
CREATE TABLE oauth_request (
  hash BLOB NOT NULL PRIMARY KEY,
  client TEXT NOT NULL,
  client_name TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  state TEXT,
  challenge TEXT NOT NULL,
  resource TEXT NOT NULL,
  scope TEXT NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_request_expires ON oauth_request (expires_ms);

-- What a person allowed a client, and the family of all tokens that came of it.
CREATE TABLE oauth_grant (
  id TEXT NOT NULL PRIMARY KEY,
  person TEXT NOT NULL REFERENCES person (id),
  client TEXT NOT NULL,
  client_name TEXT NOT NULL,
  resource TEXT NOT NULL,
  scope TEXT NOT NULL,
  provider TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  revoked_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_grant_person ON oauth_grant (person, created_ms);
CREATE INDEX oauth_grant_expires ON oauth_grant (expires_ms);

CREATE TABLE oauth_code (
  hash BLOB NOT NULL PRIMARY KEY,
  grant_id TEXT NOT NULL REFERENCES oauth_grant (id),
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL,
  expires_ms INTEGER NOT NULL,
  used_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_code_grant ON oauth_code (grant_id);

-- A refresh token that was used keeps, for a short while, its successor sealed under itself: whoever lost the
-- answer asks again and gets the same one.
CREATE TABLE oauth_token (
  hash BLOB NOT NULL PRIMARY KEY,
  grant_id TEXT NOT NULL REFERENCES oauth_grant (id),
  kind TEXT NOT NULL CHECK (kind IN ('ACCESS', 'REFRESH')),
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  rotated_ms INTEGER,
  successor BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_token_grant ON oauth_token (grant_id, kind);
CREATE INDEX oauth_token_expires ON oauth_token (expires_ms);

-- A command line that waits for a person to let it in by a short code.
CREATE TABLE pairing (
  hash BLOB NOT NULL PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  label TEXT NOT NULL,
  person TEXT,
  provider TEXT,
  refused INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pairing_expires ON pairing (expires_ms);

-- Every privileged act: who did what to whom. Append only.
CREATE TABLE audit (
  id TEXT NOT NULL PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  act TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT, WITHOUT ROWID;

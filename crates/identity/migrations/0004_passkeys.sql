-- Passkeys of people, and the ceremonies by which browsers make and use them.

-- The key is what signatures are checked with and the counter of the last one, as the library writes them. A
-- public key is no secret.
CREATE TABLE passkey (
  credential BLOB NOT NULL PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  person TEXT NOT NULL REFERENCES person (id),
  public_key TEXT NOT NULL,
  label TEXT NOT NULL,
  made_ms INTEGER NOT NULL,
  used_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_person ON passkey (person, made_ms, id);

-- A ceremony that was begun, found again by its ticket. It counts once, and only in the browser that began it.
-- Who signs in is not known before; who signs up has an id and a nickname and is nobody yet.
CREATE TABLE ceremony (
  hash BLOB NOT NULL PRIMARY KEY,
  browser BLOB NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose IN ('SIGN_IN', 'SIGN_UP', 'ADD')),
  person TEXT,
  nickname TEXT,
  state TEXT NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ceremony_expires ON ceremony (expires_ms);

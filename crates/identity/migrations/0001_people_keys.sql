CREATE TABLE person (
  id TEXT NOT NULL PRIMARY KEY,
  nickname TEXT NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  disabled_ms INTEGER
) STRICT, WITHOUT ROWID;

-- Only the SHA-256 of a key is kept: 256 random bits need no slow hash, and one indexed look-up finds it.
CREATE TABLE api_key (
  hash BLOB NOT NULL PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  person TEXT NOT NULL REFERENCES person (id),
  prefix TEXT NOT NULL,
  label TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  revoked_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_person ON api_key (person, created_ms);

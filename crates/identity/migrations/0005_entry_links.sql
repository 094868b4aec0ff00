-- Links by which an operator lets a person in once: the first time, or when every other way was lost. Nobody has
-- two at a time.
CREATE TABLE entry_link (
  hash BLOB NOT NULL PRIMARY KEY,
  person TEXT NOT NULL UNIQUE REFERENCES person (id),
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_link_expires ON entry_link (expires_ms);

-- Every image that was ever begun to be kept, until it is gone: noted before it is made, so that a crash in
-- between leaves nothing that nobody knows of. Times are real.
CREATE TABLE avatar_object (
  name TEXT NOT NULL PRIMARY KEY,
  agent TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('PENDING', 'LIVE', 'DOOMED')),
  since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- An agent has at most one image, whatever the code does.
CREATE UNIQUE INDEX avatar_live ON avatar_object (agent) WHERE state = 'LIVE';
CREATE INDEX avatar_to_remove ON avatar_object (state, since_ms) WHERE state <> 'LIVE';

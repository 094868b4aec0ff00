-- Which version of the program last opened this store to write (migrate.rs). A program that is too old for
-- the tables names it.
CREATE TABLE written_by (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  version TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

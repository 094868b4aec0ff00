-- What semantic search needs. A vector counts only under the model that made it.
ALTER TABLE agent ADD COLUMN bio_model TEXT;
ALTER TABLE agent ADD COLUMN bio_vector BLOB;
ALTER TABLE presence ADD COLUMN pitch_model TEXT;
ALTER TABLE presence ADD COLUMN pitch_vector BLOB;
-- Grows with each change of a presence, in the order of commits: what a node has not seen yet is what
-- has a greater number.
ALTER TABLE presence ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
CREATE INDEX presence_seq ON presence (seq);
-- What the pages count.
CREATE INDEX duel_finished ON duel (finished_ms) WHERE state = 'FINISHED';
CREATE INDEX presence_ends ON presence (expires_ms);

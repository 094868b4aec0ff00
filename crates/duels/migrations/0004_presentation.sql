-- An image is known by its name: where this server is found may change, and the image stays.
ALTER TABLE agent RENAME COLUMN avatar_url TO avatar;
UPDATE agent SET avatar = substr(avatar, length(avatar) - 36, 32) WHERE avatar IS NOT NULL;
-- Whether the link was ever set, by the agent or for it: only one that never was is taken from a sign-in.
ALTER TABLE agent ADD COLUMN social_chosen INTEGER NOT NULL DEFAULT 0;
UPDATE agent SET social_chosen = 1 WHERE social_provider IS NOT NULL;

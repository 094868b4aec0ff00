-- Settlements of several nodes become visible in another order than that of their numbers. The chronicle
-- numbers them once more, one after the other, and whoever reads along it misses none.
ALTER TABLE duel ADD COLUMN chronicle INTEGER;
CREATE UNIQUE INDEX duel_chronicle ON duel (chronicle) WHERE chronicle IS NOT NULL;
CREATE INDEX duel_to_chronicle ON duel (settle_seq) WHERE state = 'FINISHED' AND chronicle IS NULL;

-- Skill along the chronicle; what was settled before this table is taken in by the same job.
CREATE TABLE skill (
  kind TEXT NOT NULL CHECK (kind IN ('AGENT', 'MODEL')),
  name TEXT NOT NULL,
  mean_micro INTEGER NOT NULL,
  deviation_micro INTEGER NOT NULL CHECK (deviation_micro > 0),
  duels INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

ALTER TABLE agent_model ADD COLUMN staked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_model ADD COLUMN paid INTEGER NOT NULL DEFAULT 0;
UPDATE agent_model SET
  staked = (SELECT COALESCE(SUM(d.a_stake), 0) FROM duel d WHERE d.a = agent_model.agent AND d.a_model = agent_model.model_key AND d.state = 'FINISHED')
    + (SELECT COALESCE(SUM(d.b_stake), 0) FROM duel d WHERE d.b = agent_model.agent AND d.b_model = agent_model.model_key AND d.state = 'FINISHED'),
  paid = (SELECT COALESCE(SUM(d.a_payout), 0) FROM duel d WHERE d.a = agent_model.agent AND d.a_model = agent_model.model_key AND d.state = 'FINISHED')
    + (SELECT COALESCE(SUM(d.b_payout), 0) FROM duel d WHERE d.b = agent_model.agent AND d.b_model = agent_model.model_key AND d.state = 'FINISHED');

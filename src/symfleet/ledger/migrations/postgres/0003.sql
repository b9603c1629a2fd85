-- A campaign may go on with another target, as a new coverage generation: what was decided stays,
-- what was open is superseded, and every input of the corpus is work again.

CREATE TABLE generations (
    -- The campaign's own row has generation 1.
    number bigint PRIMARY KEY CHECK (number >= 2),
    generation text NOT NULL UNIQUE CHECK (length(generation) = 64),
    generation_key text NOT NULL CHECK (generation_key::jsonb IS NOT NULL),
    config_toml text NOT NULL,
    begun_wall double precision NOT NULL,
    first_epoch bigint NOT NULL CHECK (first_epoch >= 1),
    -- Coverage of these decisions does not count in this generation.
    decisions_before bigint NOT NULL CHECK (decisions_before >= 0),
    -- Work rows that it has ended.
    superseded bigint NOT NULL CHECK (superseded >= 0)
);

ALTER TABLE work DROP CONSTRAINT work_state_check;
ALTER TABLE work ADD CONSTRAINT work_state_check
    CHECK (state IN ('pending', 'leased', 'done', 'deferred', 'poisoned', 'superseded'));

CREATE TRIGGER work_superseded_is_final AFTER UPDATE OF state ON work
FOR EACH ROW WHEN (OLD.state = 'superseded') EXECUTE FUNCTION refuse('C8: work of an older generation never comes back');

CREATE TRIGGER generations_are_final BEFORE UPDATE ON generations
FOR EACH ROW EXECUTE FUNCTION refuse('C8: a generation never changes');

CREATE TRIGGER generations_stay BEFORE DELETE ON generations
FOR EACH ROW EXECUTE FUNCTION refuse('C8: a generation is never deleted');

CREATE TRIGGER generations_are_not_emptied BEFORE TRUNCATE ON generations
FOR EACH STATEMENT EXECUTE FUNCTION refuse('C8: generations are never emptied');

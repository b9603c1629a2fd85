-- A campaign may go on with another target, as a new coverage generation: what was decided stays,
-- what was open is superseded, and every input of the corpus is work again.

CREATE TABLE generations (
    -- The campaign's own row has generation 1.
    number INTEGER PRIMARY KEY CHECK (number >= 2),
    generation TEXT NOT NULL UNIQUE CHECK (length(generation) = 64),
    generation_key TEXT NOT NULL CHECK (json_valid(generation_key)),
    config_toml TEXT NOT NULL,
    begun_wall REAL NOT NULL,
    first_epoch INTEGER NOT NULL CHECK (first_epoch >= 1),
    -- Coverage of these decisions does not count in this generation.
    decisions_before INTEGER NOT NULL CHECK (decisions_before >= 0),
    -- Work rows that it has ended.
    superseded INTEGER NOT NULL CHECK (superseded >= 0)
) STRICT;

-- A CHECK cannot be changed: the table of work is made anew, with one more state.
CREATE TABLE work_of_2 (
    work INTEGER PRIMARY KEY,
    work_id BLOB NOT NULL UNIQUE CHECK (length(work_id) = 32),
    state_id BLOB NOT NULL CHECK (length(state_id) = 32),
    input INTEGER NOT NULL REFERENCES inputs (input),
    state TEXT NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'leased', 'done', 'deferred', 'poisoned', 'superseded')),
    place INTEGER NOT NULL,
    cost_us INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0 CHECK (fence >= 0),
    coordinator INTEGER NOT NULL DEFAULT 0,
    deliveries INTEGER NOT NULL DEFAULT 0,
    blames INTEGER NOT NULL DEFAULT 0,
    losses INTEGER NOT NULL DEFAULT 0,
    suspect INTEGER NOT NULL DEFAULT 0 CHECK (suspect IN (0, 1)),
    deferrals INTEGER NOT NULL DEFAULT 0,
    decision INTEGER REFERENCES decisions (decision),
    detail TEXT NOT NULL DEFAULT '',
    payload BLOB NOT NULL,
    CHECK ((state = 'done') = (decision IS NOT NULL)),
    CHECK (state <> 'leased' OR (epoch >= 1 AND fence >= 1))
) STRICT;

INSERT INTO work_of_2 SELECT * FROM work;
DROP TABLE work;
ALTER TABLE work_of_2 RENAME TO work;

-- The work id is unique over all rows, so one leased row for each work id is implied (L1).
CREATE UNIQUE INDEX work_leased ON work (state_id) WHERE state = 'leased';
CREATE INDEX work_frontier ON work (place, work) WHERE state = 'pending' AND suspect = 0;
CREATE INDEX work_suspects ON work (place, work) WHERE state = 'pending' AND suspect = 1;
CREATE INDEX work_deferred ON work (place, work) WHERE state = 'deferred';
CREATE INDEX work_poisoned ON work (work) WHERE state = 'poisoned';

CREATE TRIGGER work_done_is_final BEFORE UPDATE OF state ON work
WHEN OLD.state = 'done'
BEGIN SELECT RAISE (ABORT, 'C2: a decided work row never leaves done'); END;

CREATE TRIGGER work_fence_grows BEFORE UPDATE OF fence ON work
WHEN NEW.fence < OLD.fence
BEGIN SELECT RAISE (ABORT, 'L2: a fence never goes back'); END;

CREATE TRIGGER work_identity BEFORE UPDATE OF work, work_id, state_id, input, payload ON work
BEGIN SELECT RAISE (ABORT, 'A4: the identity of a work row never changes'); END;

CREATE TRIGGER work_stays BEFORE DELETE ON work
BEGIN SELECT RAISE (ABORT, 'C8: a work row is never deleted'); END;

CREATE TRIGGER work_superseded_is_final BEFORE UPDATE OF state ON work
WHEN OLD.state = 'superseded'
BEGIN SELECT RAISE (ABORT, 'C8: work of an older generation never comes back'); END;

CREATE TRIGGER generations_are_final BEFORE UPDATE ON generations
BEGIN SELECT RAISE (ABORT, 'C8: a generation never changes'); END;

CREATE TRIGGER generations_stay BEFORE DELETE ON generations
BEGIN SELECT RAISE (ABORT, 'C8: a generation is never deleted'); END;

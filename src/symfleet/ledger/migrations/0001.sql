-- The first schema of a ledger. Digests are 32-byte blobs, 64-bit incarnations 8-byte blobs
-- (big-endian). No table holds the time of a lease: nothing can be compared with a clock (L4, L5).
-- Columns ending in _wall are for people only.

CREATE TABLE campaign (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    campaign TEXT NOT NULL CHECK (length(campaign) = 32),
    ledger_incarnation TEXT NOT NULL CHECK (length(ledger_incarnation) = 16),
    created_wall REAL NOT NULL,
    keep TEXT NOT NULL CHECK (keep IN ('novel', 'all')),
    generation TEXT NOT NULL CHECK (length(generation) = 64),
    generation_key TEXT NOT NULL CHECK (json_valid(generation_key)),
    config_toml TEXT NOT NULL
) STRICT;

-- Counts of rows by state and of artefacts by kind, kept with every change and audited.
CREATE TABLE standing (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    pending INTEGER NOT NULL CHECK (pending >= 0),
    leased INTEGER NOT NULL CHECK (leased >= 0),
    done INTEGER NOT NULL CHECK (done >= 0),
    deferred INTEGER NOT NULL CHECK (deferred >= 0),
    poisoned INTEGER NOT NULL CHECK (poisoned >= 0),
    suspects INTEGER NOT NULL CHECK (suspects >= 0),
    changes INTEGER NOT NULL CHECK (changes >= 0),
    corpus INTEGER NOT NULL CHECK (corpus >= 0),
    crashes INTEGER NOT NULL CHECK (crashes >= 0),
    hangs INTEGER NOT NULL CHECK (hangs >= 0)
) STRICT;

CREATE TABLE epochs (
    epoch INTEGER PRIMARY KEY CHECK (epoch >= 1),
    coordinator BLOB NOT NULL CHECK (length(coordinator) = 8),
    opened_wall REAL NOT NULL,
    closed_wall REAL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    command_line TEXT NOT NULL,
    version TEXT NOT NULL,
    config_toml TEXT NOT NULL,
    leases_recovered INTEGER NOT NULL CHECK (leases_recovered >= 0),
    -- The last decision before this epoch, and the hash that this epoch's chain starts from.
    decisions_before INTEGER NOT NULL CHECK (decisions_before >= 0),
    chain_start BLOB NOT NULL CHECK (length(chain_start) = 32),
    quiescent INTEGER NOT NULL DEFAULT 0 CHECK (quiescent IN (0, 1)),
    members TEXT NOT NULL DEFAULT '',
    idle_window_s REAL,
    reason TEXT,
    exit_code INTEGER,
    CHECK ((reason IS NULL) = (exit_code IS NULL))
) STRICT;

CREATE TABLE inputs (
    input INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    data BLOB NOT NULL
) STRICT;

CREATE TABLE work (
    work INTEGER PRIMARY KEY,
    work_id BLOB NOT NULL UNIQUE CHECK (length(work_id) = 32),
    state_id BLOB NOT NULL CHECK (length(state_id) = 32),
    input INTEGER NOT NULL REFERENCES inputs (input),
    state TEXT NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'leased', 'done', 'deferred', 'poisoned')),
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

-- The work id is unique over all rows, so one leased row for each work id is implied (L1).
CREATE UNIQUE INDEX work_leased ON work (state_id) WHERE state = 'leased';
CREATE INDEX work_frontier ON work (place, work) WHERE state = 'pending' AND suspect = 0;
CREATE INDEX work_suspects ON work (place, work) WHERE state = 'pending' AND suspect = 1;
CREATE INDEX work_deferred ON work (place, work) WHERE state = 'deferred';
CREATE INDEX work_poisoned ON work (work) WHERE state = 'poisoned';

CREATE TABLE blames (
    work INTEGER NOT NULL REFERENCES work (work),
    executor BLOB NOT NULL CHECK (length(executor) = 8),
    epoch INTEGER NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (work, executor)
) STRICT, WITHOUT ROWID;

CREATE TABLE decisions (
    decision INTEGER PRIMARY KEY CHECK (decision >= 1),
    work INTEGER NOT NULL UNIQUE REFERENCES work (work),
    epoch INTEGER NOT NULL REFERENCES epochs (epoch),
    fence INTEGER NOT NULL,
    decided_wall REAL NOT NULL,
    chain BLOB NOT NULL CHECK (length(chain) = 32),
    manifest BLOB NOT NULL,
    record BLOB NOT NULL
) STRICT;

-- The edges that a decision was the first to show. Disjoint; their union is the knowledge.
CREATE TABLE coverage (
    decision INTEGER PRIMARY KEY REFERENCES decisions (decision),
    edges BLOB NOT NULL CHECK (length(edges) > 0 AND length(edges) % 4 = 0)
) STRICT;

-- The outbox: numbers grow by one without gaps; nth counts within a kind.
CREATE TABLE artefacts (
    artefact INTEGER PRIMARY KEY CHECK (artefact >= 1),
    kind TEXT NOT NULL CHECK (kind IN ('corpus', 'crashes', 'hangs')),
    nth INTEGER NOT NULL CHECK (nth >= 1),
    input INTEGER NOT NULL REFERENCES inputs (input),
    parent INTEGER REFERENCES inputs (input),
    epoch INTEGER NOT NULL,
    decision INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    signal INTEGER NOT NULL,
    how TEXT NOT NULL,
    site INTEGER NOT NULL,
    UNIQUE (input, kind)
) STRICT;

CREATE INDEX artefacts_of_failures ON artefacts (kind, artefact) WHERE kind <> 'corpus';

CREATE TABLE sinks (
    sink INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    host TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    registrations INTEGER NOT NULL,
    incarnation BLOB NOT NULL CHECK (length(incarnation) = 8),
    published_upto INTEGER NOT NULL DEFAULT 0 CHECK (published_upto >= 0),
    UNIQUE (kind, path, host)
) STRICT;

CREATE TABLE sources (
    source INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    host TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    is_open INTEGER NOT NULL CHECK (is_open IN (0, 1)),
    UNIQUE (kind, path, host)
) STRICT;

CREATE TABLE counters (
    epoch INTEGER NOT NULL,
    coordinator INTEGER NOT NULL,
    name TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (epoch, coordinator, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE faults (
    epoch INTEGER NOT NULL,
    coordinator INTEGER NOT NULL,
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (epoch, coordinator, name, reason)
) STRICT, WITHOUT ROWID;

CREATE TABLE acks (
    epoch INTEGER NOT NULL,
    coordinator INTEGER NOT NULL,
    acknowledged INTEGER NOT NULL,
    total INTEGER NOT NULL,
    missing TEXT NOT NULL CHECK (json_valid(missing)),
    PRIMARY KEY (epoch, coordinator)
) STRICT, WITHOUT ROWID;

-- ---- rules that no code of ours can break by mistake --------------------------------------------

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

CREATE TRIGGER inputs_are_final BEFORE UPDATE ON inputs
BEGIN SELECT RAISE (ABORT, 'A1: an input never changes'); END;

CREATE TRIGGER inputs_stay BEFORE DELETE ON inputs
WHEN EXISTS (SELECT 1 FROM artefacts WHERE artefacts.input = OLD.input)
BEGIN SELECT RAISE (ABORT, 'C5: an input that a row names is never deleted'); END;

CREATE TRIGGER decisions_are_final BEFORE UPDATE ON decisions
BEGIN SELECT RAISE (ABORT, 'C7: a decision never changes'); END;

CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions
BEGIN SELECT RAISE (ABORT, 'C7: a decision is never deleted'); END;

CREATE TRIGGER coverage_is_final BEFORE UPDATE ON coverage
BEGIN SELECT RAISE (ABORT, 'C7: coverage of a decision never changes'); END;

CREATE TRIGGER coverage_stays BEFORE DELETE ON coverage
BEGIN SELECT RAISE (ABORT, 'C7: coverage of a decision is never deleted'); END;

CREATE TRIGGER artefacts_are_final BEFORE UPDATE ON artefacts
BEGIN SELECT RAISE (ABORT, 'C5: an artefact never changes'); END;

CREATE TRIGGER artefacts_stay BEFORE DELETE ON artefacts
BEGIN SELECT RAISE (ABORT, 'C5: an artefact is never deleted'); END;

CREATE TRIGGER epochs_stay BEFORE DELETE ON epochs
BEGIN SELECT RAISE (ABORT, 'L6: an epoch is never deleted'); END;

CREATE TRIGGER epochs_verdict_is_final BEFORE UPDATE OF reason, exit_code ON epochs
WHEN OLD.reason IS NOT NULL
BEGIN SELECT RAISE (ABORT, 'L6: the verdict of an epoch never changes'); END;

CREATE TRIGGER epochs_quiescence_is_final BEFORE UPDATE OF quiescent ON epochs
WHEN NEW.quiescent < OLD.quiescent
BEGIN SELECT RAISE (ABORT, 'Q3: a committed quiescence never ends'); END;

CREATE TRIGGER sinks_mark_grows BEFORE UPDATE OF published_upto ON sinks
WHEN NEW.published_upto < OLD.published_upto
BEGIN SELECT RAISE (ABORT, 'C6: the mark of a sink never goes back'); END;

CREATE TRIGGER counters_grow BEFORE UPDATE OF amount ON counters
WHEN NEW.amount < OLD.amount
BEGIN SELECT RAISE (ABORT, 'C7: a counter never goes back'); END;

CREATE TRIGGER faults_grow BEFORE UPDATE OF amount ON faults
WHEN NEW.amount < OLD.amount
BEGIN SELECT RAISE (ABORT, 'D8: a fault counter never goes back'); END;

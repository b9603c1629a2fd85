-- The first schema of a ledger on PostgreSQL: the tables, constraints and rules of SQLite's, in a
-- schema of the campaign's own, which is the search path when this runs. Digests are 32 bytes,
-- 64-bit incarnations 8 bytes (big-endian). No table holds the time of a lease: nothing can be
-- compared with a clock (L4, L5). Columns ending in _wall are for people only.

CREATE TABLE schema_version (
    only_row bigint PRIMARY KEY CHECK (only_row = 1),
    version bigint NOT NULL,
    -- Of what the catalogue holds after the migrations.
    digest text NOT NULL
);

CREATE TABLE campaign (
    only_row bigint PRIMARY KEY CHECK (only_row = 1),
    campaign text NOT NULL CHECK (length(campaign) = 32),
    ledger_incarnation text NOT NULL CHECK (length(ledger_incarnation) = 16),
    created_wall double precision NOT NULL,
    keep text NOT NULL CHECK (keep IN ('novel', 'all')),
    generation text NOT NULL CHECK (length(generation) = 64),
    generation_key text NOT NULL CHECK (generation_key::jsonb IS NOT NULL),
    config_toml text NOT NULL
);

-- Counts of rows by state and of artefacts by kind, kept with every change and audited.
CREATE TABLE standing (
    only_row bigint PRIMARY KEY CHECK (only_row = 1),
    pending bigint NOT NULL CHECK (pending >= 0),
    leased bigint NOT NULL CHECK (leased >= 0),
    done bigint NOT NULL CHECK (done >= 0),
    deferred bigint NOT NULL CHECK (deferred >= 0),
    poisoned bigint NOT NULL CHECK (poisoned >= 0),
    suspects bigint NOT NULL CHECK (suspects >= 0),
    changes bigint NOT NULL CHECK (changes >= 0),
    corpus bigint NOT NULL CHECK (corpus >= 0),
    crashes bigint NOT NULL CHECK (crashes >= 0),
    hangs bigint NOT NULL CHECK (hangs >= 0)
);

CREATE TABLE epochs (
    epoch bigint PRIMARY KEY CHECK (epoch >= 1),
    coordinator bytea NOT NULL CHECK (length(coordinator) = 8),
    opened_wall double precision NOT NULL,
    closed_wall double precision,
    host text NOT NULL,
    pid bigint NOT NULL,
    command_line text NOT NULL,
    version text NOT NULL,
    config_toml text NOT NULL,
    leases_recovered bigint NOT NULL CHECK (leases_recovered >= 0),
    -- The last decision before this epoch, and the hash that this epoch's chain starts from.
    decisions_before bigint NOT NULL CHECK (decisions_before >= 0),
    chain_start bytea NOT NULL CHECK (length(chain_start) = 32),
    quiescent bigint NOT NULL DEFAULT 0 CHECK (quiescent IN (0, 1)),
    members text NOT NULL DEFAULT '',
    idle_window_s double precision,
    reason text,
    exit_code bigint,
    CHECK ((reason IS NULL) = (exit_code IS NULL))
);

CREATE TABLE inputs (
    input bigint PRIMARY KEY,
    digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
    data bytea NOT NULL
);

CREATE TABLE work (
    work bigint PRIMARY KEY,
    work_id bytea NOT NULL UNIQUE CHECK (length(work_id) = 32),
    state_id bytea NOT NULL CHECK (length(state_id) = 32),
    input bigint NOT NULL REFERENCES inputs (input),
    state text NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'leased', 'done', 'deferred', 'poisoned')),
    place bigint NOT NULL,
    cost_us bigint NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    fence bigint NOT NULL DEFAULT 0 CHECK (fence >= 0),
    coordinator bigint NOT NULL DEFAULT 0,
    deliveries bigint NOT NULL DEFAULT 0,
    blames bigint NOT NULL DEFAULT 0,
    losses bigint NOT NULL DEFAULT 0,
    suspect bigint NOT NULL DEFAULT 0 CHECK (suspect IN (0, 1)),
    deferrals bigint NOT NULL DEFAULT 0,
    decision bigint,
    detail text NOT NULL DEFAULT '',
    payload bytea NOT NULL,
    CHECK ((state = 'done') = (decision IS NOT NULL)),
    CHECK (state <> 'leased' OR (epoch >= 1 AND fence >= 1))
);

-- The work id is unique over all rows, so one leased row for each work id is implied (L1).
CREATE UNIQUE INDEX work_leased ON work (state_id) WHERE state = 'leased';
CREATE INDEX work_frontier ON work (place, work) WHERE state = 'pending' AND suspect = 0;
CREATE INDEX work_suspects ON work (place, work) WHERE state = 'pending' AND suspect = 1;
CREATE INDEX work_deferred ON work (place, work) WHERE state = 'deferred';
CREATE INDEX work_poisoned ON work (work) WHERE state = 'poisoned';

-- The owner's lock is an advisory one of its session; these rows tell people who has it, and tell a
-- reconnecting owner whether the transaction whose answer it never saw was committed: `turn` is
-- written in each of its transactions.
CREATE TABLE owners (
    nonce bytea PRIMARY KEY CHECK (length(nonce) = 16),
    host text NOT NULL,
    pid bigint NOT NULL,
    backend bigint NOT NULL,
    since_wall double precision NOT NULL,
    epoch bigint NOT NULL DEFAULT 0,
    turn bigint NOT NULL DEFAULT 0
);

CREATE TABLE blames (
    work bigint NOT NULL REFERENCES work (work),
    executor bytea NOT NULL CHECK (length(executor) = 8),
    epoch bigint NOT NULL,
    detail text NOT NULL,
    PRIMARY KEY (work, executor)
);

CREATE TABLE decisions (
    decision bigint PRIMARY KEY CHECK (decision >= 1),
    work bigint NOT NULL UNIQUE REFERENCES work (work),
    epoch bigint NOT NULL REFERENCES epochs (epoch),
    fence bigint NOT NULL,
    decided_wall double precision NOT NULL,
    chain bytea NOT NULL CHECK (length(chain) = 32),
    manifest bytea NOT NULL,
    record bytea NOT NULL
);

-- The edges that a decision was the first to show. Disjoint; their union is the knowledge.
CREATE TABLE coverage (
    decision bigint PRIMARY KEY REFERENCES decisions (decision),
    edges bytea NOT NULL CHECK (length(edges) > 0 AND length(edges) % 4 = 0)
);

-- The outbox: numbers grow by one without gaps; nth counts within a kind.
CREATE TABLE artefacts (
    artefact bigint PRIMARY KEY CHECK (artefact >= 1),
    kind text NOT NULL CHECK (kind IN ('corpus', 'crashes', 'hangs')),
    nth bigint NOT NULL CHECK (nth >= 1),
    input bigint NOT NULL REFERENCES inputs (input),
    parent bigint REFERENCES inputs (input),
    epoch bigint NOT NULL,
    decision bigint NOT NULL,
    outcome text NOT NULL,
    signal bigint NOT NULL,
    how text NOT NULL,
    site bigint NOT NULL,
    UNIQUE (input, kind)
);

CREATE INDEX artefacts_of_failures ON artefacts (kind, artefact) WHERE kind <> 'corpus';

CREATE TABLE sinks (
    sink bigint PRIMARY KEY,
    kind text NOT NULL,
    path text NOT NULL,
    host text NOT NULL,
    epoch bigint NOT NULL,
    registrations bigint NOT NULL,
    incarnation bytea NOT NULL CHECK (length(incarnation) = 8),
    published_upto bigint NOT NULL DEFAULT 0 CHECK (published_upto >= 0),
    UNIQUE (kind, path, host)
);

CREATE TABLE sources (
    source bigint PRIMARY KEY,
    kind text NOT NULL,
    path text NOT NULL,
    host text NOT NULL,
    epoch bigint NOT NULL,
    is_open bigint NOT NULL CHECK (is_open IN (0, 1)),
    UNIQUE (kind, path, host)
);

CREATE TABLE counters (
    epoch bigint NOT NULL,
    coordinator bigint NOT NULL,
    name text NOT NULL,
    amount bigint NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (epoch, coordinator, name)
);

CREATE TABLE faults (
    epoch bigint NOT NULL,
    coordinator bigint NOT NULL,
    name text NOT NULL,
    reason text NOT NULL,
    amount bigint NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (epoch, coordinator, name, reason)
);

CREATE TABLE acks (
    epoch bigint NOT NULL,
    coordinator bigint NOT NULL,
    acknowledged bigint NOT NULL,
    total bigint NOT NULL,
    missing text NOT NULL CHECK (missing::jsonb IS NOT NULL),
    PRIMARY KEY (epoch, coordinator)
);

ALTER TABLE work ADD FOREIGN KEY (decision) REFERENCES decisions (decision);

-- These tables grow without pause: statistics must not lag behind.
ALTER TABLE work SET (autovacuum_analyze_scale_factor = 0.02, fillfactor = 70);
ALTER TABLE standing SET (fillfactor = 20);
ALTER TABLE counters SET (fillfactor = 50);

-- ---- rules that no code of ours can break by mistake --------------------------------------------

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE FUNCTION refuse_named_input() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM artefacts WHERE artefacts.input = OLD.input) THEN
        RAISE EXCEPTION 'C5: an input that a row names is never deleted'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
END $$;

CREATE TRIGGER work_done_is_final BEFORE UPDATE OF state ON work
FOR EACH ROW WHEN (OLD.state = 'done') EXECUTE FUNCTION refuse('C2: a decided work row never leaves done');

CREATE TRIGGER work_fence_grows BEFORE UPDATE OF fence ON work
FOR EACH ROW WHEN (NEW.fence < OLD.fence) EXECUTE FUNCTION refuse('L2: a fence never goes back');

CREATE TRIGGER work_identity BEFORE UPDATE OF work, work_id, state_id, input, payload ON work
FOR EACH ROW EXECUTE FUNCTION refuse('A4: the identity of a work row never changes');

CREATE TRIGGER work_stays BEFORE DELETE ON work
FOR EACH ROW EXECUTE FUNCTION refuse('C8: a work row is never deleted');

CREATE TRIGGER inputs_are_final BEFORE UPDATE ON inputs
FOR EACH ROW EXECUTE FUNCTION refuse('A1: an input never changes');

CREATE TRIGGER inputs_stay BEFORE DELETE ON inputs
FOR EACH ROW EXECUTE FUNCTION refuse_named_input();

CREATE TRIGGER decisions_are_final BEFORE UPDATE ON decisions
FOR EACH ROW EXECUTE FUNCTION refuse('C7: a decision never changes');

CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions
FOR EACH ROW EXECUTE FUNCTION refuse('C7: a decision is never deleted');

CREATE TRIGGER coverage_is_final BEFORE UPDATE ON coverage
FOR EACH ROW EXECUTE FUNCTION refuse('C7: coverage of a decision never changes');

CREATE TRIGGER coverage_stays BEFORE DELETE ON coverage
FOR EACH ROW EXECUTE FUNCTION refuse('C7: coverage of a decision is never deleted');

CREATE TRIGGER artefacts_are_final BEFORE UPDATE ON artefacts
FOR EACH ROW EXECUTE FUNCTION refuse('C5: an artefact never changes');

CREATE TRIGGER artefacts_stay BEFORE DELETE ON artefacts
FOR EACH ROW EXECUTE FUNCTION refuse('C5: an artefact is never deleted');

CREATE TRIGGER epochs_stay BEFORE DELETE ON epochs
FOR EACH ROW EXECUTE FUNCTION refuse('L6: an epoch is never deleted');

CREATE TRIGGER epochs_verdict_is_final BEFORE UPDATE OF reason, exit_code ON epochs
FOR EACH ROW WHEN (OLD.reason IS NOT NULL) EXECUTE FUNCTION refuse('L6: the verdict of an epoch never changes');

CREATE TRIGGER epochs_quiescence_is_final BEFORE UPDATE OF quiescent ON epochs
FOR EACH ROW WHEN (NEW.quiescent < OLD.quiescent) EXECUTE FUNCTION refuse('Q3: a committed quiescence never ends');

CREATE TRIGGER sinks_mark_grows BEFORE UPDATE OF published_upto ON sinks
FOR EACH ROW WHEN (NEW.published_upto < OLD.published_upto) EXECUTE FUNCTION refuse('C6: the mark of a sink never goes back');

CREATE TRIGGER counters_grow BEFORE UPDATE OF amount ON counters
FOR EACH ROW WHEN (NEW.amount < OLD.amount) EXECUTE FUNCTION refuse('C7: a counter never goes back');

CREATE TRIGGER faults_grow BEFORE UPDATE OF amount ON faults
FOR EACH ROW WHEN (NEW.amount < OLD.amount) EXECUTE FUNCTION refuse('D8: a fault counter never goes back');

CREATE TRIGGER work_are_not_emptied BEFORE TRUNCATE ON work
FOR EACH STATEMENT EXECUTE FUNCTION refuse('C8: work are never emptied');

CREATE TRIGGER inputs_are_not_emptied BEFORE TRUNCATE ON inputs
FOR EACH STATEMENT EXECUTE FUNCTION refuse('C5: inputs are never emptied');

CREATE TRIGGER decisions_are_not_emptied BEFORE TRUNCATE ON decisions
FOR EACH STATEMENT EXECUTE FUNCTION refuse('C7: decisions are never emptied');

CREATE TRIGGER coverage_are_not_emptied BEFORE TRUNCATE ON coverage
FOR EACH STATEMENT EXECUTE FUNCTION refuse('C7: coverage are never emptied');

CREATE TRIGGER artefacts_are_not_emptied BEFORE TRUNCATE ON artefacts
FOR EACH STATEMENT EXECUTE FUNCTION refuse('C5: artefacts are never emptied');

CREATE TRIGGER epochs_are_not_emptied BEFORE TRUNCATE ON epochs
FOR EACH STATEMENT EXECUTE FUNCTION refuse('L6: epochs are never emptied');

CREATE TRIGGER counters_are_not_emptied BEFORE TRUNCATE ON counters
FOR EACH STATEMENT EXECUTE FUNCTION refuse('C7: counters are never emptied');

CREATE TRIGGER faults_are_not_emptied BEFORE TRUNCATE ON faults
FOR EACH STATEMENT EXECUTE FUNCTION refuse('D8: faults are never emptied');

-- Several coordinators write, each over a session of its own.

-- One row for each life of a coordinator: number 0 is the root, which owns the campaign. The lock of
-- its session tells who is alive, `turn` which of its transactions are durable. Who is `lost` was
-- given up: its leases were taken over, and it never commits again.
ALTER TABLE owners RENAME TO coordinators;
ALTER INDEX owners_pkey RENAME TO coordinators_pkey;
ALTER TABLE coordinators RENAME CONSTRAINT owners_nonce_check TO coordinators_nonce_check;
ALTER TABLE coordinators
    ADD COLUMN coordinator bigint NOT NULL DEFAULT 0 CHECK (coordinator >= 0),
    ADD COLUMN lost bigint NOT NULL DEFAULT 0 CHECK (lost IN (0, 1)),
    -- What others than the root have changed of the row `standing` in the newest epoch: the counts
    -- are the sums, so that no transaction waits for another one only to count. A share of what
    -- comes and goes may be below zero: who admits a row is not always who leases it.
    ADD COLUMN pending bigint NOT NULL DEFAULT 0,
    ADD COLUMN leased bigint NOT NULL DEFAULT 0,
    ADD COLUMN done bigint NOT NULL DEFAULT 0,
    ADD COLUMN deferred bigint NOT NULL DEFAULT 0,
    ADD COLUMN poisoned bigint NOT NULL DEFAULT 0,
    ADD COLUMN suspects bigint NOT NULL DEFAULT 0,
    ADD COLUMN changes bigint NOT NULL DEFAULT 0,
    ADD COLUMN corpus bigint NOT NULL DEFAULT 0,
    ADD COLUMN crashes bigint NOT NULL DEFAULT 0,
    ADD COLUMN hangs bigint NOT NULL DEFAULT 0;
CREATE INDEX coordinators_of_epochs ON coordinators (epoch, coordinator);
ALTER TABLE coordinators SET (fillfactor = 20);
ALTER TABLE standing
    DROP CONSTRAINT standing_pending_check,
    DROP CONSTRAINT standing_leased_check,
    DROP CONSTRAINT standing_deferred_check,
    DROP CONSTRAINT standing_poisoned_check,
    DROP CONSTRAINT standing_suspects_check;

CREATE TRIGGER coordinators_lost_is_final AFTER UPDATE OF lost ON coordinators
FOR EACH ROW WHEN (NEW.lost < OLD.lost) EXECUTE FUNCTION refuse('L2: a coordinator that was given up never comes back');

CREATE TRIGGER coordinators_stay BEFORE DELETE ON coordinators
FOR EACH ROW EXECUTE FUNCTION refuse('L2: a life of a coordinator is never deleted');

CREATE TRIGGER coordinators_are_not_emptied BEFORE TRUNCATE ON coordinators
FOR EACH STATEMENT EXECUTE FUNCTION refuse('L2: lives of coordinators are never emptied');

-- Rules of rows that change often, again but after the change: one before it makes the server lock
-- and log each row a second time, and its condition is asked all the same.
DROP TRIGGER work_done_is_final ON work;
CREATE TRIGGER work_done_is_final AFTER UPDATE OF state ON work
FOR EACH ROW WHEN (OLD.state = 'done') EXECUTE FUNCTION refuse('C2: a decided work row never leaves done');

DROP TRIGGER work_fence_grows ON work;
CREATE TRIGGER work_fence_grows AFTER UPDATE OF fence ON work
FOR EACH ROW WHEN (NEW.fence < OLD.fence) EXECUTE FUNCTION refuse('L2: a fence never goes back');

DROP TRIGGER work_identity ON work;
CREATE TRIGGER work_identity AFTER UPDATE OF work, work_id, state_id, input, payload ON work
FOR EACH ROW EXECUTE FUNCTION refuse('A4: the identity of a work row never changes');

DROP TRIGGER counters_grow ON counters;
CREATE TRIGGER counters_grow AFTER UPDATE OF amount ON counters
FOR EACH ROW WHEN (NEW.amount < OLD.amount) EXECUTE FUNCTION refuse('C7: a counter never goes back');

DROP TRIGGER faults_grow ON faults;
CREATE TRIGGER faults_grow AFTER UPDATE OF amount ON faults
FOR EACH ROW WHEN (NEW.amount < OLD.amount) EXECUTE FUNCTION refuse('D8: a fault counter never goes back');

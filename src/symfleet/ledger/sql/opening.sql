-- Statements that create a campaign, open an epoch and register its sources and sinks.
--
-- unpublished_decisions looks for the corpus by its numbers and for the few others by their index:
-- left alone, SQLite makes an index of all artefacts for it, at each start.

-- name: put_campaign
INSERT INTO campaign (only_row, campaign, ledger_incarnation, created_wall, keep, generation,
    generation_key, config_toml) VALUES (1, ?, ?, ?, ?, ?, ?, ?)

-- name: put_standing
INSERT INTO standing VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

-- name: accept_older
UPDATE campaign SET ledger_incarnation = ?

-- name: supersede
UPDATE work SET state = 'superseded', suspect = 0 WHERE state NOT IN ('done', 'superseded')

-- name: put_generation
INSERT INTO generations (number, generation, generation_key, config_toml, begun_wall, first_epoch,
    decisions_before, superseded) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: put_again
INSERT INTO work (work, work_id, state_id, input, place, payload) VALUES (?, ?, ?, ?, ?, ?)

-- name: void_leases
UPDATE work SET state = 'pending' WHERE state = 'leased'

-- name: rearm_deferred
UPDATE work SET state = 'pending' WHERE state = 'deferred'

-- name: unpublished_decisions
SELECT count(DISTINCT decision) FROM (
    SELECT a.decision FROM sinks AS s CROSS JOIN artefacts AS a NOT INDEXED
    WHERE s.epoch = (SELECT max(epoch) FROM sinks) AND s.kind = 'corpus'
        AND a.artefact > s.published_upto AND a.kind = 'corpus' AND a.decision > 0
    UNION ALL
    SELECT a.decision FROM sinks AS s CROSS JOIN artefacts AS a INDEXED BY artefacts_of_failures
    WHERE s.epoch = (SELECT max(epoch) FROM sinks) AND s.kind <> 'corpus'
        AND a.kind <> 'corpus' AND a.kind = s.kind AND a.artefact > s.published_upto
        AND a.decision > 0)

-- name: put_epoch
INSERT INTO epochs (epoch, coordinator, opened_wall, host, pid, command_line, version, config_toml,
    leases_recovered, decisions_before, chain_start) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: find_source
SELECT source FROM sources WHERE kind = ? AND path = ? AND host = ?

-- name: put_source
INSERT INTO sources (kind, path, host, epoch, is_open) VALUES (?, ?, ?, ?, 1)
ON CONFLICT (kind, path, host) DO UPDATE SET epoch = excluded.epoch, is_open = 1

-- name: find_sink
SELECT sink, registrations, published_upto FROM sinks WHERE kind = ? AND path = ? AND host = ?

-- name: put_sink
INSERT INTO sinks (sink, kind, path, host, epoch, registrations, incarnation)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (kind, path, host) DO UPDATE SET epoch = excluded.epoch,
    registrations = excluded.registrations, incarnation = excluded.incarnation

-- name: last_sink
SELECT coalesce(max(sink), 0) FROM sinks

-- name: find_poisoned
SELECT work, suspect FROM work WHERE work_id = ? AND state = 'poisoned'

-- name: rearm_work
UPDATE work SET state = 'pending', blames = 0, losses = 0, deferrals = 0, suspect = 0, detail = ''
WHERE work = ? AND state = 'poisoned'

-- name: forget_blames
DELETE FROM blames WHERE work = ?

-- name: drop_unnamed
DELETE FROM inputs WHERE input NOT IN (SELECT input FROM artefacts)

-- Statements of a turn. Each block is one statement.

-- name: begin
BEGIN IMMEDIATE

-- name: commit
COMMIT

-- name: rollback
ROLLBACK

-- name: put_input
INSERT INTO inputs (digest, data) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING

-- name: find_input
SELECT input FROM inputs WHERE digest = ?

-- name: put_work
INSERT INTO work (work, work_id, state_id, input, place, cost_us, payload)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (work_id) DO NOTHING

-- name: has_work
SELECT 1 FROM work WHERE work_id = ?

-- name: put_artefact
INSERT INTO artefacts
    (artefact, kind, nth, input, parent, epoch, decision, outcome, signal, how, site)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (input, kind) DO NOTHING

-- name: frontier
SELECT w.work, w.work_id, w.state_id, w.payload, w.fence, w.deliveries, w.blames, w.suspect,
    w.cost_us, w.place, i.digest, i.data
FROM work AS w INDEXED BY work_frontier LEFT JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'pending' AND w.suspect = 0 AND (w.place, w.work) > (?, ?)
    AND NOT EXISTS (SELECT 1 FROM work AS l WHERE l.state = 'leased' AND l.state_id = w.state_id)
ORDER BY w.place, w.work LIMIT ?

-- name: suspects
SELECT w.work, w.work_id, w.state_id, w.payload, w.fence, w.deliveries, w.blames, w.suspect,
    w.cost_us, w.place, i.digest, i.data
FROM work AS w INDEXED BY work_suspects LEFT JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'pending' AND w.suspect = 1 AND (w.place, w.work) > (?, ?)
    AND NOT EXISTS (SELECT 1 FROM work AS l WHERE l.state = 'leased' AND l.state_id = w.state_id)
ORDER BY w.place, w.work LIMIT ?

-- name: deferred
SELECT w.work, w.work_id, w.state_id, w.payload, w.fence, w.deliveries, w.blames, w.suspect,
    w.cost_us, w.place, i.digest, i.data
FROM work AS w INDEXED BY work_deferred LEFT JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'deferred' AND w.suspect = ? AND (w.place, w.work) > (?, ?)
    AND NOT EXISTS (SELECT 1 FROM work AS l WHERE l.state = 'leased' AND l.state_id = w.state_id)
ORDER BY w.place, w.work LIMIT ?

-- name: lease
UPDATE work SET state = 'leased', epoch = ?, fence = fence + 1, coordinator = ?,
    deliveries = deliveries + 1
WHERE work = ? AND state = ? AND fence = ?

-- name: find_work
SELECT w.work, w.state, w.epoch, w.fence, w.coordinator, w.input, w.suspect, w.decision, i.digest
FROM work AS w LEFT JOIN inputs AS i ON i.input = w.input WHERE w.work_id = ?

-- name: find_decision
SELECT d.manifest, e.coordinator FROM decisions AS d JOIN epochs AS e ON e.epoch = d.epoch
WHERE d.decision = ?

-- name: put_decision
INSERT INTO decisions (decision, work, epoch, fence, decided_wall, chain, manifest, record)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: put_coverage
INSERT INTO coverage (decision, edges) VALUES (?, ?)

-- name: finish_work
UPDATE work SET state = 'done', decision = ?, suspect = 0
WHERE work = ? AND state = 'leased' AND epoch = ? AND fence = ?

-- name: held_work
SELECT work, coordinator, losses, suspect, deferrals, place, detail FROM work
WHERE work_id = ? AND state = 'leased' AND epoch = ? AND fence = ?

-- name: holds
SELECT 1 FROM work INDEXED BY work_leased
WHERE state = 'leased' AND work_id = ? AND epoch = ? AND fence = ?

-- name: give_back
UPDATE work SET state = 'pending' WHERE work_id = ? AND state = 'leased' AND epoch = ? AND fence = ?

-- name: release_work
UPDATE work SET state = ?, losses = ?, suspect = ?, deferrals = ?, place = ?, detail = ?
WHERE work = ? AND state = 'leased' AND epoch = ? AND fence = ?

-- name: put_blame
INSERT INTO blames (work, executor, epoch, detail) VALUES (?, ?, ?, ?)
ON CONFLICT (work, executor) DO NOTHING

-- name: count_blames
SELECT count(*) FROM blames WHERE work = ?

-- name: blame_work
UPDATE work SET state = ?, blames = ?, losses = 0, detail = ?
WHERE work = ? AND state = 'leased' AND epoch = ? AND fence = ?

-- name: find_source
SELECT is_open FROM sources WHERE source = ?

-- name: set_source
UPDATE sources SET is_open = ? WHERE source = ?

-- name: open_sources
SELECT count(*) FROM sources WHERE is_open = 1 AND epoch = ?

-- name: find_sink
SELECT kind, incarnation, published_upto FROM sinks WHERE sink = ?

-- name: set_mark
UPDATE sinks SET published_upto = ? WHERE sink = ? AND incarnation = ? AND published_upto = ?

-- name: held_leases
SELECT work_id, epoch, fence FROM work INDEXED BY work_leased
WHERE state = 'leased' AND epoch = ? AND coordinator = ?

-- name: take_over
UPDATE work INDEXED BY work_leased SET state = 'pending'
WHERE state = 'leased' AND epoch = ? AND coordinator = ?

-- name: count_rows
SELECT pending, leased, deferred, corpus + crashes + hangs,
    EXISTS (SELECT 1 FROM work INDEXED BY work_frontier WHERE state = 'pending' AND suspect = 0)
        OR EXISTS (SELECT 1 FROM work INDEXED BY work_suspects
            WHERE state = 'pending' AND suspect = 1),
    (SELECT count(*) FROM work INDEXED BY work_leased WHERE state = 'leased'),
    EXISTS (SELECT 1 FROM work INDEXED BY work_deferred WHERE state = 'deferred'),
    (SELECT coalesce(max(artefact), 0) FROM artefacts)
FROM standing

-- name: has_left
SELECT 1 FROM acks WHERE epoch = ? AND coordinator = ?

-- name: set_quiescent
UPDATE epochs SET quiescent = 1, members = ? WHERE epoch = ?

-- name: put_ack
INSERT INTO acks (epoch, coordinator, acknowledged, total, missing) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (epoch, coordinator) DO UPDATE SET acknowledged = excluded.acknowledged,
    total = excluded.total, missing = excluded.missing

-- name: set_idle_window
UPDATE epochs SET idle_window_s = ? WHERE epoch = ?

-- name: close_epoch
UPDATE epochs SET reason = ?, exit_code = ?, closed_wall = ? WHERE epoch = ? AND reason IS NULL

-- name: add_counter
INSERT INTO counters (epoch, coordinator, name, amount) VALUES (?, ?, ?, ?)
ON CONFLICT (epoch, coordinator, name) DO UPDATE SET amount = counters.amount + excluded.amount

-- name: add_fault
INSERT INTO faults (epoch, coordinator, name, reason, amount) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (epoch, coordinator, name, reason) DO UPDATE SET amount = faults.amount + excluded.amount

-- name: set_standing
UPDATE standing SET pending = ?, leased = ?, done = ?, deferred = ?, poisoned = ?, suspects = ?,
    changes = ?, corpus = ?, crashes = ?, hangs = ?

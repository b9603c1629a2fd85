-- How a turn begins, what it asks before its operations, and how it writes many rows at once.

-- name: begin_ordered
SELECT pg_advisory_xact_lock_shared(?), pg_advisory_xact_lock(?)

-- name: begin_alone
SELECT pg_advisory_xact_lock(?), pg_advisory_xact_lock(?)

-- name: turn_start
SELECT pg_advisory_xact_lock_shared(?), coalesce(e.epoch, 0), pg_backend_pid()::bigint,
    extract(epoch FROM clock_timestamp())::float8, coalesce(e.quiescent, 0), e.reason,
    (SELECT coalesce(max(artefact), 0) FROM artefacts),
    (SELECT array_agg(a.coordinator) FROM acks AS a WHERE a.epoch = e.epoch),
    (SELECT string_agg(k.sink || ':' || k.published_upto, ',') FROM sinks AS k
        WHERE k.epoch = e.epoch),
    s.pending + x.pending, s.leased + x.leased, s.done + x.done, s.deferred + x.deferred,
    s.poisoned + x.poisoned, s.suspects + x.suspects, s.changes + x.changes,
    s.corpus + x.corpus, s.crashes + x.crashes, s.hangs + x.hangs
FROM standing AS s CROSS JOIN (SELECT
    coalesce(sum(pending), 0)::bigint AS pending, coalesce(sum(leased), 0)::bigint AS leased,
    coalesce(sum(done), 0)::bigint AS done, coalesce(sum(deferred), 0)::bigint AS deferred,
    coalesce(sum(poisoned), 0)::bigint AS poisoned, coalesce(sum(suspects), 0)::bigint AS suspects,
    coalesce(sum(changes), 0)::bigint AS changes, coalesce(sum(corpus), 0)::bigint AS corpus,
    coalesce(sum(crashes), 0)::bigint AS crashes, coalesce(sum(hangs), 0)::bigint AS hangs
    FROM coordinators WHERE coordinator > 0 AND epoch = (SELECT max(epoch) FROM epochs)) AS x
LEFT JOIN LATERAL (SELECT epoch, quiescent, reason FROM epochs ORDER BY epoch DESC LIMIT 1) AS e
    ON true

-- name: turn_heads
SELECT coalesce(d.decision, 0), CASE WHEN d.epoch = e.epoch THEN d.chain ELSE e.chain_start END,
    (SELECT coalesce(max(work), 0) FROM work), (SELECT coalesce(max(input), 0) FROM inputs)
FROM (SELECT 1) AS one
LEFT JOIN LATERAL (SELECT epoch, chain_start FROM epochs ORDER BY epoch DESC LIMIT 1) AS e ON true
LEFT JOIN LATERAL (SELECT decision, chain, epoch FROM decisions ORDER BY decision DESC LIMIT 1)
    AS d ON true

-- name: coverage_after
SELECT edges FROM coverage WHERE decision > ? ORDER BY decision

-- name: known_leases
SELECT work_id, work, state, epoch, fence FROM work WHERE work_id = ANY (?::bytea[])

-- name: known_work
SELECT w.work_id, w.work, w.state, w.epoch, w.fence, w.coordinator, w.input, w.suspect, w.decision,
    i.digest
FROM work AS w LEFT JOIN inputs AS i ON i.input = w.input WHERE w.work_id = ANY (?::bytea[])

-- name: known_inputs
SELECT digest, input FROM inputs WHERE digest = ANY (?::bytea[])

-- name: known_artefacts
SELECT i.input, a.kind FROM inputs AS i JOIN artefacts AS a ON a.input = i.input
WHERE i.digest = ANY (?::bytea[])

-- name: put_inputs
INSERT INTO inputs (input, digest, data)
SELECT * FROM unnest(?::bigint[], ?::bytea[], ?::bytea[])

-- name: put_works
INSERT INTO work (work, work_id, state_id, input, place, cost_us, payload)
SELECT * FROM unnest(?::bigint[], ?::bytea[], ?::bytea[], ?::bigint[], ?::bigint[], ?::bigint[],
    ?::bytea[])

-- name: put_artefacts
INSERT INTO artefacts
    (artefact, kind, nth, input, parent, epoch, decision, outcome, signal, how, site)
SELECT * FROM unnest(?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
    ?::bigint[], ?::text[], ?::bigint[], ?::text[], ?::bigint[])

-- name: put_decisions
INSERT INTO decisions (decision, work, epoch, fence, decided_wall, chain, manifest, record)
SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::float8[], ?::bytea[],
    ?::bytea[], ?::bytea[])

-- name: put_coverages
INSERT INTO coverage (decision, edges) SELECT * FROM unnest(?::bigint[], ?::bytea[])

-- name: finish_works
UPDATE work SET state = 'done', decision = x.decision, suspect = 0
FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]) AS x (decision, work, epoch, fence)
WHERE work.work = x.work AND work.state = 'leased' AND work.epoch = x.epoch
    AND work.fence = x.fence

-- name: give_back_works
UPDATE work SET state = 'pending'
FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) AS x (work, epoch, fence)
WHERE work.work = x.work AND work.state = 'leased' AND work.epoch = x.epoch
    AND work.fence = x.fence

-- name: lease_works
UPDATE work SET state = 'leased', epoch = x.epoch, fence = work.fence + 1,
    coordinator = x.coordinator, deliveries = work.deliveries + 1
FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::bigint[])
    AS x (epoch, coordinator, work, state, fence)
WHERE work.work = x.work AND work.state = x.state AND work.fence = x.fence

-- name: add_counters
INSERT INTO counters (epoch, coordinator, name, amount)
SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::bigint[])
ON CONFLICT (epoch, coordinator, name) DO UPDATE SET amount = counters.amount + excluded.amount

-- name: add_faults
INSERT INTO faults (epoch, coordinator, name, reason, amount)
SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::bigint[])
ON CONFLICT (epoch, coordinator, name, reason) DO UPDATE SET amount = faults.amount + excluded.amount

-- name: add_standing
UPDATE standing SET pending = pending + ?, leased = leased + ?, done = done + ?,
    deferred = deferred + ?, poisoned = poisoned + ?, suspects = suspects + ?,
    changes = changes + ?, corpus = corpus + ?, crashes = crashes + ?, hangs = hangs + ?

-- name: add_share
UPDATE coordinators SET pending = pending + ?, leased = leased + ?, done = done + ?,
    deferred = deferred + ?, poisoned = poisoned + ?, suspects = suspects + ?,
    changes = changes + ?, corpus = corpus + ?, crashes = crashes + ?, hangs = hangs + ?, turn = ?
WHERE nonce = ? AND lost = 0 AND ? = (SELECT max(epoch) FROM epochs)

-- name: fold_shares
UPDATE standing AS s SET pending = s.pending + x.pending, leased = s.leased + x.leased,
    done = s.done + x.done, deferred = s.deferred + x.deferred,
    poisoned = s.poisoned + x.poisoned, suspects = s.suspects + x.suspects,
    changes = s.changes + x.changes, corpus = s.corpus + x.corpus,
    crashes = s.crashes + x.crashes, hangs = s.hangs + x.hangs
FROM (SELECT
    coalesce(sum(pending), 0)::bigint AS pending, coalesce(sum(leased), 0)::bigint AS leased,
    coalesce(sum(done), 0)::bigint AS done, coalesce(sum(deferred), 0)::bigint AS deferred,
    coalesce(sum(poisoned), 0)::bigint AS poisoned, coalesce(sum(suspects), 0)::bigint AS suspects,
    coalesce(sum(changes), 0)::bigint AS changes, coalesce(sum(corpus), 0)::bigint AS corpus,
    coalesce(sum(crashes), 0)::bigint AS crashes, coalesce(sum(hangs), 0)::bigint AS hangs
    FROM coordinators WHERE coordinator > 0 AND epoch = ?) AS x

-- name: take_turn
UPDATE coordinators SET turn = ?, epoch = ?
WHERE nonce = ? AND ? = (SELECT coalesce(max(epoch), 0) FROM epochs)

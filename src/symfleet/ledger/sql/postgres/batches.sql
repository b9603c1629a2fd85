-- What a turn asks before its operations, and how it writes many rows at once.

-- name: known_work
SELECT w.work_id, w.work, w.state, w.epoch, w.fence, w.coordinator, w.input, w.suspect, w.decision,
    i.digest
FROM work AS w LEFT JOIN inputs AS i ON i.input = w.input WHERE w.work_id = ANY (?::bytea[])

-- name: known_inputs
SELECT digest, input FROM inputs WHERE digest = ANY (?::bytea[])

-- name: known_artefacts
SELECT i.input, a.kind FROM inputs AS i JOIN artefacts AS a ON a.input = i.input
WHERE i.digest = ANY (?::bytea[])

-- name: last_input
SELECT coalesce(max(input), 0) FROM inputs

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

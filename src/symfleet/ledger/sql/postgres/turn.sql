-- Statements of a turn that PostgreSQL says in another way than SQLite.

-- name: begin
BEGIN ISOLATION LEVEL READ COMMITTED

-- name: put_input
INSERT INTO inputs (input, digest, data)
SELECT coalesce(max(input), 0) + 1, ?, ? FROM inputs ON CONFLICT (digest) DO NOTHING RETURNING input

-- name: frontier
WITH w AS MATERIALIZED (SELECT work, work_id, state_id, payload, fence, deliveries, blames, suspect,
        cost_us, place, input FROM work
    WHERE state = 'pending' AND suspect = 0 AND (place, work) > (?, ?)
        AND NOT EXISTS (SELECT 1 FROM work AS l
            WHERE l.state = 'leased' AND l.state_id = work.state_id)
    ORDER BY place, work LIMIT ? FOR NO KEY UPDATE SKIP LOCKED)
SELECT w.work, w.work_id, w.state_id, w.payload, w.fence, w.deliveries, w.blames, w.suspect,
    w.cost_us, w.place, i.digest, i.data
FROM w LEFT JOIN inputs AS i ON i.input = w.input ORDER BY w.place, w.work

-- name: suspects
WITH w AS MATERIALIZED (SELECT work, work_id, state_id, payload, fence, deliveries, blames, suspect,
        cost_us, place, input FROM work
    WHERE state = 'pending' AND suspect = 1 AND (place, work) > (?, ?)
        AND NOT EXISTS (SELECT 1 FROM work AS l
            WHERE l.state = 'leased' AND l.state_id = work.state_id)
    ORDER BY place, work LIMIT ? FOR NO KEY UPDATE SKIP LOCKED)
SELECT w.work, w.work_id, w.state_id, w.payload, w.fence, w.deliveries, w.blames, w.suspect,
    w.cost_us, w.place, i.digest, i.data
FROM w LEFT JOIN inputs AS i ON i.input = w.input ORDER BY w.place, w.work

-- name: deferred
WITH w AS MATERIALIZED (SELECT work, work_id, state_id, payload, fence, deliveries, blames, suspect,
        cost_us, place, input FROM work
    WHERE state = 'deferred' AND suspect = ? AND (place, work) > (?, ?)
        AND NOT EXISTS (SELECT 1 FROM work AS l
            WHERE l.state = 'leased' AND l.state_id = work.state_id)
    ORDER BY place, work LIMIT ? FOR NO KEY UPDATE SKIP LOCKED)
SELECT w.work, w.work_id, w.state_id, w.payload, w.fence, w.deliveries, w.blames, w.suspect,
    w.cost_us, w.place, i.digest, i.data
FROM w LEFT JOIN inputs AS i ON i.input = w.input ORDER BY w.place, w.work

-- name: find_sink
-- Whoever comes second reads what the first one wrote.
SELECT kind, incarnation, published_upto FROM sinks WHERE sink = ? FOR NO KEY UPDATE

-- name: count_rows
-- One statement: it sees all of another coordinator's transaction, or nothing.
SELECT s.pending + x.pending, s.leased + x.leased, s.deferred + x.deferred,
    s.corpus + s.crashes + s.hangs + x.shown,
    EXISTS (SELECT 1 FROM work WHERE state = 'pending' AND suspect = 0)
        OR EXISTS (SELECT 1 FROM work WHERE state = 'pending' AND suspect = 1),
    (SELECT count(*) FROM work WHERE state = 'leased'),
    EXISTS (SELECT 1 FROM work WHERE state = 'deferred'),
    (SELECT coalesce(max(artefact), 0) FROM artefacts)
FROM standing AS s CROSS JOIN (SELECT
    coalesce(sum(pending), 0)::bigint AS pending, coalesce(sum(leased), 0)::bigint AS leased,
    coalesce(sum(deferred), 0)::bigint AS deferred,
    coalesce(sum(corpus + crashes + hangs), 0)::bigint AS shown
    FROM coordinators WHERE coordinator > 0 AND epoch = (SELECT max(epoch) FROM epochs)) AS x

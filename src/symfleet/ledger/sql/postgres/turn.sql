-- Statements of a turn that PostgreSQL says in another way than SQLite.

-- name: begin
BEGIN ISOLATION LEVEL READ COMMITTED

-- name: put_input
INSERT INTO inputs (input, digest, data)
SELECT coalesce(max(input), 0) + 1, ?, ? FROM inputs ON CONFLICT (digest) DO NOTHING RETURNING input

-- name: frontier
SELECT w.work, w.work_id, w.state_id, w.payload, w.fence, w.deliveries, w.blames, w.suspect,
    w.cost_us, w.place, i.digest, i.data
FROM work AS w LEFT JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'pending' AND w.suspect = 0 AND (w.place, w.work) > (?, ?)
    AND NOT EXISTS (SELECT 1 FROM work AS l WHERE l.state = 'leased' AND l.state_id = w.state_id)
ORDER BY w.place, w.work LIMIT ?
FOR UPDATE OF w SKIP LOCKED

-- name: suspects
SELECT w.work, w.work_id, w.state_id, w.payload, w.fence, w.deliveries, w.blames, w.suspect,
    w.cost_us, w.place, i.digest, i.data
FROM work AS w LEFT JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'pending' AND w.suspect = 1 AND (w.place, w.work) > (?, ?)
    AND NOT EXISTS (SELECT 1 FROM work AS l WHERE l.state = 'leased' AND l.state_id = w.state_id)
ORDER BY w.place, w.work LIMIT ?
FOR UPDATE OF w SKIP LOCKED

-- name: deferred
SELECT w.work, w.work_id, w.state_id, w.payload, w.fence, w.deliveries, w.blames, w.suspect,
    w.cost_us, w.place, i.digest, i.data
FROM work AS w LEFT JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'deferred' AND w.suspect = ? AND (w.place, w.work) > (?, ?)
    AND NOT EXISTS (SELECT 1 FROM work AS l WHERE l.state = 'leased' AND l.state_id = w.state_id)
ORDER BY w.place, w.work LIMIT ?
FOR UPDATE OF w SKIP LOCKED

-- Statements of the start check and of the full audit.

-- name: schema
SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema
WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name

-- name: integrity_check
PRAGMA integrity_check(20)

-- name: file
PRAGMA database_list

-- name: references
PRAGMA foreign_key_check

-- name: chain_of
SELECT epoch, chain FROM decisions WHERE decision = ?

-- name: epoch_of
SELECT coordinator, chain_start, decisions_before FROM epochs WHERE epoch = ?

-- name: executed
SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) FROM counters WHERE name = 'executed'

-- name: first_unpublished
SELECT decision FROM artefacts
WHERE decision > 0 AND artefact > (SELECT min(published_upto) FROM sinks
    WHERE epoch = (SELECT max(epoch) FROM sinks))
ORDER BY artefact LIMIT 1

-- name: shown_child
SELECT i.data FROM inputs AS i JOIN artefacts AS a ON a.input = i.input
WHERE i.digest = ? AND a.kind = 'corpus'

-- name: shown_by
SELECT a.artefact, a.kind, i.digest, p.digest, a.epoch, a.outcome, a.signal, a.how, a.site, a.decision
FROM artefacts AS a LEFT JOIN inputs AS i ON i.input = a.input
    LEFT JOIN inputs AS p ON p.input = a.parent
WHERE a.artefact >= ? AND a.artefact < ? ORDER BY a.artefact

-- name: frontier_rows
SELECT w.work, w.work_id, w.state_id, w.payload, w.state, i.digest, i.data,
    (SELECT x.work FROM work AS x WHERE x.work_id = w.work_id)
FROM work AS w INDEXED BY work_frontier LEFT JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'pending' AND w.suspect = 0

-- name: suspect_rows
SELECT w.work, w.work_id, w.state_id, w.payload, w.state, i.digest, i.data,
    (SELECT x.work FROM work AS x WHERE x.work_id = w.work_id)
FROM work AS w INDEXED BY work_suspects LEFT JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'pending' AND w.suspect = 1

-- name: leased_rows
SELECT w.work, w.work_id, w.state_id, w.payload, w.state, i.digest, i.data,
    (SELECT x.work FROM work AS x WHERE x.work_id = w.work_id)
FROM work AS w INDEXED BY work_leased LEFT JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'leased'

-- name: deferred_rows
SELECT w.work, w.work_id, w.state_id, w.payload, w.state, i.digest, i.data,
    (SELECT x.work FROM work AS x WHERE x.work_id = w.work_id)
FROM work AS w INDEXED BY work_deferred LEFT JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'deferred'

-- name: last_input
SELECT coalesce(max(input), 0) FROM inputs

-- name: inputs
SELECT input, digest, data FROM inputs WHERE input > ? ORDER BY input LIMIT ?

-- name: work
SELECT w.work, w.work_id, w.state_id, w.payload, w.state, w.decision, d.work, i.digest, w.blames,
    (SELECT count(*) FROM blames AS b WHERE b.work = w.work)
FROM work AS w LEFT JOIN inputs AS i ON i.input = w.input
    LEFT JOIN decisions AS d ON d.decision = w.decision
WHERE w.work > ? ORDER BY w.work LIMIT ?

-- name: states
SELECT state, suspect, count(*) FROM work GROUP BY state, suspect

-- name: artefacts
SELECT artefact, kind, nth, decision, outcome, signal, parent, site FROM artefacts
WHERE artefact > ? ORDER BY artefact LIMIT ?

-- name: artefact_kinds
SELECT kind, count(*), max(nth) FROM artefacts GROUP BY kind

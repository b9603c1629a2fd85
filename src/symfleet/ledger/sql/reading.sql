-- Statements of readers.

-- name: begin
BEGIN DEFERRED

-- name: end
COMMIT

-- name: campaign
SELECT c.campaign, c.ledger_incarnation, c.created_wall, c.keep,
    coalesce(g.generation, c.generation), coalesce(g.generation_key, c.generation_key),
    coalesce(g.config_toml, c.config_toml), coalesce(g.number, 1)
FROM campaign AS c
    LEFT JOIN generations AS g ON g.number = (SELECT max(number) FROM generations)

-- name: campaign_as_made
SELECT campaign, ledger_incarnation, created_wall, keep, generation, generation_key, config_toml
FROM campaign

-- name: generation_start
SELECT coalesce(max(first_epoch), 0), coalesce(max(decisions_before), 0),
    CAST(coalesce(sum(superseded), 0) AS BIGINT)
FROM generations

-- name: standing
SELECT pending, leased, done, deferred, poisoned, suspects, changes, corpus, crashes, hangs
FROM standing

-- name: epochs
SELECT e.epoch, e.opened_wall, e.closed_wall, e.host, e.pid, e.reason, e.exit_code,
    e.leases_recovered,
    coalesce((SELECT CAST(sum(c.amount) AS BIGINT) FROM counters AS c
        WHERE c.epoch = e.epoch AND c.name = 'executed'), 0),
    e.command_line, e.version, e.config_toml
FROM epochs AS e WHERE e.epoch >= ? ORDER BY e.epoch

-- name: last_epoch
SELECT epoch, coordinator, chain_start, decisions_before, quiescent, idle_window_s, reason
FROM epochs ORDER BY epoch DESC LIMIT 1

-- name: counters
SELECT epoch, coordinator, name, amount FROM counters

-- name: faults
SELECT epoch, name, reason, CAST(sum(amount) AS BIGINT) FROM faults GROUP BY epoch, name, reason
ORDER BY name, reason

-- name: faults_by_coordinator
SELECT coordinator, CAST(sum(amount) AS BIGINT) FROM faults WHERE epoch = ? GROUP BY coordinator

-- name: acks
SELECT coordinator, acknowledged, total, missing FROM acks WHERE epoch = ?

-- name: last_decision
SELECT decision, chain, epoch FROM decisions ORDER BY decision DESC LIMIT 1

-- name: chain_at
SELECT chain FROM decisions WHERE decision = ?

-- name: last_artefact
SELECT coalesce(max(artefact), 0) FROM artefacts

-- name: last_work
SELECT coalesce(max(work), 0) FROM work

-- name: last_new_edge
SELECT decided_wall FROM decisions
WHERE decision = (SELECT max(decision) FROM coverage)

-- name: coverage
SELECT edges FROM coverage
WHERE decision > (SELECT coalesce(max(decisions_before), 0) FROM generations) ORDER BY decision

-- name: input_bytes
SELECT data FROM inputs WHERE digest = ?

-- name: corpus_inputs
SELECT a.artefact, a.input, i.digest FROM artefacts AS a JOIN inputs AS i ON i.input = a.input
WHERE a.kind = 'corpus' AND a.artefact > ? ORDER BY a.artefact LIMIT ?

-- name: corpus
SELECT a.artefact, i.digest FROM artefacts AS a JOIN inputs AS i ON i.input = a.input
WHERE a.kind = 'corpus' AND a.artefact > ? ORDER BY a.artefact LIMIT ?

-- name: decisions
SELECT d.decision, w.work_id, d.manifest, d.epoch, d.fence, d.chain, d.record, i.digest,
    w.coordinator, c.edges
FROM decisions AS d LEFT JOIN work AS w ON w.work = d.work LEFT JOIN inputs AS i ON i.input = w.input
    LEFT JOIN coverage AS c ON c.decision = d.decision
WHERE d.decision > ? ORDER BY d.decision LIMIT ?

-- name: crashes
SELECT a.kind, i.digest, p.digest, a.signal, a.epoch, a.decision, d.decided_wall, length(i.data)
FROM artefacts AS a INDEXED BY artefacts_of_failures JOIN inputs AS i ON i.input = a.input
    LEFT JOIN inputs AS p ON p.input = a.parent JOIN decisions AS d ON d.decision = a.decision
WHERE a.kind <> 'corpus' ORDER BY a.artefact

-- name: rows_pending
SELECT w.work_id, i.digest, w.state, w.deliveries, w.blames, w.losses, w.detail
FROM work AS w INDEXED BY work_frontier JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'pending' AND w.suspect = 0 ORDER BY w.place, w.work LIMIT ?

-- name: pending_before
SELECT count(*) FROM (SELECT 1 FROM work AS w INDEXED BY work_frontier
    WHERE w.state = 'pending' AND w.suspect = 0 AND w.place < ? LIMIT ?) AS x

-- name: rows_suspect
SELECT w.work_id, i.digest, w.state, w.deliveries, w.blames, w.losses, w.detail
FROM work AS w INDEXED BY work_suspects JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'pending' AND w.suspect = 1 ORDER BY w.place, w.work LIMIT ?

-- name: rows_leased
SELECT w.work_id, i.digest, w.state, w.deliveries, w.blames, w.losses, w.detail
FROM work AS w INDEXED BY work_leased JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'leased' ORDER BY w.work LIMIT ?

-- name: rows_deferred
SELECT w.work_id, i.digest, w.state, w.deliveries, w.blames, w.losses, w.detail
FROM work AS w INDEXED BY work_deferred JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'deferred' ORDER BY w.place, w.work LIMIT ?

-- name: rows_poisoned
SELECT w.work_id, i.digest, w.state, w.deliveries, w.blames, w.losses, w.detail
FROM work AS w INDEXED BY work_poisoned JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'poisoned' ORDER BY w.work LIMIT ?

-- name: rows_done
SELECT w.work_id, i.digest, w.state, w.deliveries, w.blames, w.losses, w.detail
FROM work AS w JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'done' ORDER BY w.work LIMIT ?

-- name: rows_superseded
SELECT w.work_id, i.digest, w.state, w.deliveries, w.blames, w.losses, w.detail
FROM work AS w JOIN inputs AS i ON i.input = w.input
WHERE w.state = 'superseded' ORDER BY w.work LIMIT ?

-- name: corpus_artefacts
SELECT a.artefact, a.kind, i.digest, p.digest, a.outcome, a.signal, a.epoch, a.decision, i.data,
    a.how, a.site
FROM artefacts AS a LEFT JOIN inputs AS i ON i.input = a.input
    LEFT JOIN inputs AS p ON p.input = a.parent
WHERE a.kind = ? AND a.artefact > ? ORDER BY a.artefact LIMIT ?

-- name: failure_artefacts
SELECT a.artefact, a.kind, i.digest, p.digest, a.outcome, a.signal, a.epoch, a.decision, i.data,
    a.how, a.site
FROM artefacts AS a INDEXED BY artefacts_of_failures LEFT JOIN inputs AS i ON i.input = a.input
    LEFT JOIN inputs AS p ON p.input = a.parent
WHERE a.kind = ? AND a.kind <> 'corpus' AND a.artefact > ? ORDER BY a.artefact LIMIT ?

-- name: sinks
SELECT sink, kind, host, path, incarnation, published_upto FROM sinks ORDER BY sink

-- name: last_epoch_number
SELECT coalesce(max(epoch), 0) FROM epochs

-- name: live_sinks
SELECT sink, kind, published_upto FROM sinks WHERE epoch = ?

-- name: nth_corpus
SELECT nth FROM artefacts WHERE kind = 'corpus' AND artefact <= ? ORDER BY artefact DESC LIMIT 1

-- name: nth_failure
SELECT nth FROM artefacts INDEXED BY artefacts_of_failures
WHERE kind = ? AND kind <> 'corpus' AND artefact <= ? ORDER BY artefact DESC LIMIT 1

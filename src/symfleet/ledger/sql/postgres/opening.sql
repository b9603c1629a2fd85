-- Statements of opening that PostgreSQL says in another way than SQLite.

-- name: put_source
INSERT INTO sources (source, kind, path, host, epoch, is_open)
SELECT coalesce(max(source), 0) + 1, ?, ?, ?, ?, 1 FROM sources
ON CONFLICT (kind, path, host) DO UPDATE SET epoch = excluded.epoch, is_open = 1

-- name: unpublished_decisions
SELECT count(DISTINCT artefacts.decision) FROM sinks CROSS JOIN artefacts
WHERE sinks.epoch = (SELECT max(epoch) FROM sinks) AND artefacts.artefact > sinks.published_upto
    AND artefacts.kind = sinks.kind AND artefacts.decision > 0

-- Statements of the audit that PostgreSQL says in another way than SQLite. The server checks its
-- pages when it reads them (initdb --data-checksums), and the audit reads all.

-- name: integrity_check
SELECT coalesce((SELECT 'rules are off: ' || string_agg(t.tgname, ', ') FROM pg_trigger AS t
    JOIN pg_class AS c ON c.oid = t.tgrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND t.tgenabled <> 'O'), 'ok')
UNION ALL
SELECT coalesce((SELECT 'indexes are not valid: ' || string_agg(i.indexrelid::regclass::text, ', ')
    FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid), 'ok')
UNION ALL
SELECT coalesce((SELECT 'constraints are not valid: ' || string_agg(k.conname, ', ')
    FROM pg_constraint AS k
    WHERE k.connamespace = current_schema()::regnamespace AND NOT k.convalidated), 'ok')

-- name: file
SELECT 0, 'main', ''

-- name: references
SELECT 'work', w.work, 'inputs', 0 FROM work AS w
WHERE NOT EXISTS (SELECT 1 FROM inputs AS i WHERE i.input = w.input)
UNION ALL
SELECT 'work', w.work, 'decisions', 0 FROM work AS w
WHERE w.decision IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM decisions AS d WHERE d.decision = w.decision)
UNION ALL
SELECT 'artefacts', a.artefact, 'inputs', 0 FROM artefacts AS a
WHERE NOT EXISTS (SELECT 1 FROM inputs AS i WHERE i.input = a.input)
UNION ALL
SELECT 'artefacts', a.artefact, 'inputs', 1 FROM artefacts AS a
WHERE a.parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM inputs AS i WHERE i.input = a.parent)
UNION ALL
SELECT 'decisions', d.decision, 'work', 0 FROM decisions AS d
WHERE NOT EXISTS (SELECT 1 FROM work AS w WHERE w.work = d.work)
UNION ALL
SELECT 'coverage', c.decision, 'decisions', 0 FROM coverage AS c
WHERE NOT EXISTS (SELECT 1 FROM decisions AS d WHERE d.decision = c.decision)
UNION ALL
SELECT 'blames', b.work, 'work', 0 FROM blames AS b
WHERE NOT EXISTS (SELECT 1 FROM work AS w WHERE w.work = b.work)

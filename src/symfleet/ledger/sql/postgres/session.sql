-- Statements that only PostgreSQL has: the session, the owner's lock, the fence, the schema.

-- name: server
SELECT current_setting('server_version_num')::bigint, current_setting('fsync'),
    current_setting('full_page_writes'), pg_is_in_recovery(), pg_backend_pid()::bigint,
    has_database_privilege(current_database(), 'CREATE')

-- name: settings
SELECT set_config('synchronous_commit', 'on', false),
    set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
    set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false),
    set_config('plan_cache_mode', 'force_generic_plan', false),
    set_config('jit', 'off', false), set_config('client_min_messages', 'warning', false),
    set_config('lock_timeout', '30s', false), set_config('client_encoding', 'UTF8', false),
    set_config('search_path', ?, false)

-- name: reader_settings
SELECT set_config('default_transaction_read_only', 'on', false),
    set_config('jit', 'off', false), set_config('client_encoding', 'UTF8', false),
    set_config('search_path', ?, false)

-- name: has_schema
SELECT count(*) FROM pg_namespace WHERE nspname = ?

-- name: may_use_schema
SELECT has_schema_privilege(?, 'USAGE')

-- name: has_mark
SELECT to_regclass('copying') IS NOT NULL

-- name: retired
SELECT nspname::text, coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace
WHERE starts_with(nspname::text, ?) ORDER BY length(nspname::text) DESC, nspname DESC LIMIT 1

-- name: version
SELECT version, digest FROM schema_version

-- name: put_version
INSERT INTO schema_version (only_row, version, digest) VALUES (1, ?, ?)
ON CONFLICT (only_row) DO UPDATE SET version = excluded.version, digest = excluded.digest

-- name: has_version
SELECT to_regclass('schema_version') IS NOT NULL

-- name: catalogue
SELECT 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull::text
FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0
    AND NOT a.attisdropped
UNION ALL
SELECT 'index', c.relname, '', pg_get_indexdef(i.indexrelid)
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE c.relnamespace = current_schema()::regnamespace
UNION ALL
SELECT 'constraint', c.relname, k.conname, pg_get_constraintdef(k.oid)
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
WHERE k.connamespace = current_schema()::regnamespace
UNION ALL
SELECT 'trigger', c.relname, t.tgname, t.tgtype::text || ' ' || encode(t.tgargs, 'hex')
    || ' ' || t.tgenabled::text
FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal
UNION ALL
SELECT 'function', p.proname, '', p.prosrc FROM pg_proc AS p
WHERE p.pronamespace = current_schema()::regnamespace
ORDER BY 1, 2, 3, 4

-- name: try_lock
SELECT pg_try_advisory_lock(?)

-- name: unlock
SELECT pg_advisory_unlock(?)

-- name: holder
SELECT o.host, o.pid, o.epoch, greatest(0, extract(epoch FROM clock_timestamp()) - o.since_wall)::float8
FROM coordinators AS o JOIN pg_locks AS l ON l.pid = o.backend
WHERE l.locktype = 'advisory' AND l.granted
    AND ((l.classid::bigint << 32) | l.objid::bigint) = ? AND l.database
    = (SELECT oid FROM pg_database WHERE datname = current_database())
ORDER BY o.since_wall DESC LIMIT 1

-- name: put_owner
INSERT INTO coordinators (nonce, host, pid, backend, since_wall)
VALUES (?, ?, ?, pg_backend_pid(), extract(epoch FROM clock_timestamp()))

-- name: put_coordinator
INSERT INTO coordinators (nonce, coordinator, epoch, host, pid, backend, since_wall)
SELECT ?, x.coordinator, x.epoch, ?, ?, pg_backend_pid(), extract(epoch FROM clock_timestamp())
FROM (VALUES (?::bigint, ?::bigint)) AS x (coordinator, epoch)
WHERE x.epoch = (SELECT max(epoch) FROM epochs)
    AND NOT EXISTS (SELECT 1 FROM coordinators AS c
        WHERE c.epoch = x.epoch AND c.coordinator = x.coordinator)

-- name: attached_before
SELECT (SELECT max(epoch) FROM epochs), (SELECT max(lost) FROM coordinators
    WHERE coordinator = ? AND epoch = ?)

-- name: move_owner
UPDATE coordinators SET backend = pg_backend_pid() WHERE nonce = ? RETURNING turn, lost

-- name: end_backend
SELECT pg_terminate_backend(l.pid) FROM pg_locks AS l JOIN coordinators AS o ON o.backend = l.pid
WHERE l.locktype = 'advisory' AND l.granted AND o.nonce = ?
    AND ((l.classid::bigint << 32) | l.objid::bigint) = ?

-- name: end_holders
SELECT pg_terminate_backend(l.pid, 2000) FROM pg_locks AS l
WHERE l.locktype = 'advisory' AND l.granted
    AND ((l.classid::bigint << 32) | l.objid::bigint) = ? AND l.database
    = (SELECT oid FROM pg_database WHERE datname = current_database())

-- name: give_up
UPDATE coordinators SET lost = 1 WHERE epoch = ? AND coordinator = ?

-- name: put_given_up
INSERT INTO coordinators (nonce, coordinator, epoch, host, pid, backend, since_wall, lost)
VALUES (?, ?, ?, '', 0, 0, extract(epoch FROM clock_timestamp()), 1)

-- name: clear_shares
UPDATE coordinators SET pending = 0, leased = 0, done = 0, deferred = 0, poisoned = 0,
    suspects = 0, changes = 0, corpus = 0, crashes = 0, hangs = 0
WHERE coordinator > 0 AND epoch = ?

-- name: bound_idleness
SELECT set_config('idle_in_transaction_session_timeout', '6s', false)

-- name: give_back_held
UPDATE work SET state = 'pending'
FROM unnest(?::bytea[], ?::bigint[], ?::bigint[]) AS x (work_id, epoch, fence)
WHERE work.work_id = x.work_id AND work.state = 'leased' AND work.epoch = x.epoch
    AND work.fence = x.fence
RETURNING work.work_id, work.epoch, work.fence

-- name: server_time
SELECT extract(epoch FROM clock_timestamp())::float8

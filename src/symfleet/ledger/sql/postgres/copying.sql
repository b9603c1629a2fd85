-- Statements of `symfleet ledger copy` on PostgreSQL, filled in from the catalogue. Keys of text are
-- compared by their bytes, as SQLite does, whatever the database's collation is.

-- name: take_time
SELECT set_config('idle_in_transaction_session_timeout', '0', false),
    set_config('idle_session_timeout', '0', false), set_config('statement_timeout', '0', false)

-- name: tables
SELECT c.relname::text FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
ORDER BY c.relname::text COLLATE "C"

-- name: columns
SELECT a.attname::text, array_position(i.indkey::int2[], a.attnum), a.atttypid::bigint
FROM pg_attribute AS a LEFT JOIN pg_index AS i ON i.indrelid = a.attrelid AND i.indisprimary
WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attname::text COLLATE "C"

-- name: all_rows
SELECT {columns} FROM {table} ORDER BY {key}

-- name: rows_after
SELECT {columns} FROM {table} WHERE ({key}) > ({key_values}) ORDER BY {key}

-- name: last_key
SELECT {key} FROM {table} ORDER BY {backwards} LIMIT 1

-- name: count
SELECT count(*) FROM {table}

-- name: put
COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)

-- name: size
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'

-- name: make_mark
CREATE TABLE copying (
    only_row bigint PRIMARY KEY CHECK (only_row = 1), source text NOT NULL, dropped text NOT NULL
)

-- name: put_mark
INSERT INTO copying (only_row, source, dropped) VALUES (1, %s, %s)

-- name: mark
SELECT source FROM copying

-- name: dropped
SELECT dropped FROM copying

-- name: drop_mark
DROP TABLE copying

-- name: references
SELECT c.relname::text, k.conname::text, pg_get_constraintdef(k.oid)
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
WHERE k.connamespace = current_schema()::regnamespace AND k.contype = 'f'
ORDER BY 1, 2

-- name: drop_reference
ALTER TABLE {table} DROP CONSTRAINT {name}

-- name: add_reference
ALTER TABLE {table} ADD CONSTRAINT {name} {definition}

-- name: analyze
ANALYZE {table}

-- name: make_schema
CREATE SCHEMA {schema}

-- name: drop_schema
DROP SCHEMA {schema} CASCADE

-- name: retired_names
SELECT nspname::text FROM pg_namespace WHERE starts_with(nspname::text, %s)

-- name: rename_schema
ALTER SCHEMA {schema} RENAME TO {name}

-- name: comment
COMMENT ON SCHEMA {schema} IS {text}

-- Statements of `symfleet ledger copy`, filled in from the schema: {table}, {columns}, {key}, ...

-- name: tables
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name

-- name: columns
SELECT name, pk FROM pragma_table_info(?) ORDER BY name

-- name: all_rows
SELECT {columns} FROM {table} ORDER BY {key}

-- name: rows_after
SELECT {columns} FROM {table} WHERE ({key}) > ({key_values}) ORDER BY {key}

-- name: last_key
SELECT {key} FROM {table} ORDER BY {backwards} LIMIT 1

-- name: count
SELECT count(*) FROM {table}

-- name: put
INSERT INTO {table} ({columns}) VALUES ({values})

-- name: version
PRAGMA user_version

-- name: has_mark
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'copying'

-- name: make_mark
CREATE TABLE copying (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), source TEXT NOT NULL) STRICT

-- name: put_mark
INSERT INTO copying (only_row, source) VALUES (1, ?)

-- name: mark
SELECT source FROM copying

-- name: drop_mark
DROP TABLE copying

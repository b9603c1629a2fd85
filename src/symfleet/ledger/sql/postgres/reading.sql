-- Statements of readers that PostgreSQL says in another way than SQLite.

-- name: begin
BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY

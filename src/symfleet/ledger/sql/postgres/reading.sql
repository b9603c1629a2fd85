-- Statements of readers that PostgreSQL says in another way than SQLite.

-- name: begin
BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY

-- name: standing
SELECT s.pending + x.pending, s.leased + x.leased, s.done + x.done, s.deferred + x.deferred,
    s.poisoned + x.poisoned, s.suspects + x.suspects, s.changes + x.changes,
    s.corpus + x.corpus, s.crashes + x.crashes, s.hangs + x.hangs
FROM standing AS s CROSS JOIN (SELECT
    coalesce(sum(pending), 0)::bigint AS pending, coalesce(sum(leased), 0)::bigint AS leased,
    coalesce(sum(done), 0)::bigint AS done, coalesce(sum(deferred), 0)::bigint AS deferred,
    coalesce(sum(poisoned), 0)::bigint AS poisoned, coalesce(sum(suspects), 0)::bigint AS suspects,
    coalesce(sum(changes), 0)::bigint AS changes, coalesce(sum(corpus), 0)::bigint AS corpus,
    coalesce(sum(crashes), 0)::bigint AS crashes, coalesce(sum(hangs), 0)::bigint AS hangs
    FROM coordinators WHERE coordinator > 0 AND epoch = (SELECT max(epoch) FROM epochs)) AS x

"""PostgreSQL clusters of a test, and damage and interruption of ledgers of both kinds."""

"""A campaign with very many records, and how long things take with it."""

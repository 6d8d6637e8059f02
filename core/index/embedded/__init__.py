"""The embedded index: a SQLite file per generation, scored on arrays per partition."""

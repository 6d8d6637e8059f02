"""The open record: append-only tables in Parquet that anybody can read."""

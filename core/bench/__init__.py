"""Benchmarks: retrieval quality on public data, and speed."""

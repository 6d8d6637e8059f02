"""Dreaming: which adds to consolidate, clusters, plans, guards and measures, as pure steps."""

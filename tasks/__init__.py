"""Prefect tasks: a thin skin over one core step each."""

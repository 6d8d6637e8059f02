"""Prefect flows: sequence and parameters only."""

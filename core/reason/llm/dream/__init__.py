"""Dreaming's judgements by a model."""

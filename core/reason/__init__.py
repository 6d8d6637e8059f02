"""Reasoners: one protocol per judgement, and the families that implement them."""

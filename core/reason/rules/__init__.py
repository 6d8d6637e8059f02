"""The rules family: deterministic, documented heuristics; needs no key and no network."""

"""The ledger: the log of changes, and the little state that commits are checked against."""

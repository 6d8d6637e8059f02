"""The search index: a projection of the ledger behind one port."""

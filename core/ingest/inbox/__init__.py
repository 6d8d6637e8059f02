"""The inbox: files of messages (JSONL, JSON, Parquet) on their way into memory.

``files`` finds and opens them, ``lines`` reads them line by line, ``batches`` groups messages by scope and session,
``log`` remembers what was taken, ``deliver`` hands batches over, ``reading`` ties them together for one file. ``queue``
works off adds that wait in the ledger; ``summary`` adds up what a run did.
"""

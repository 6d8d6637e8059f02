"""Every test here runs on both kinds of ledger."""

from support.ledgers import ledger, ledger_url

__all__ = ["ledger", "ledger_url"]

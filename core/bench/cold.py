"""A new process that opens a store and answers one query, timed: what a short-lived agent pays.

Usage: python -m mindmem.core.bench.cold HOME USER QUERY
"""

import json
import sys

from mindmem.core.clock import monotonic

__all__ = ["main"]


def main(home: str, user: str, query: str) -> None:
    """Print the milliseconds of importing, opening and searching as one JSON object."""
    begun = monotonic()
    from mindmem.core.memory import Memory
    from mindmem.core.settings import Settings

    imported = monotonic()
    settings = Settings.load(home=home)
    settings = settings.model_copy(update={"store": settings.store.model_copy(update={"fold_on_close": False})})
    with Memory(settings=settings) as memory:
        opened = monotonic()
        memory.search(query, user_id=user)
        answered = monotonic()
    times = {"import_ms": imported - begun, "open_ms": opened - imported, "first_query_ms": answered - opened}
    sys.stdout.write(json.dumps({name: round(seconds * 1000, 1) for name, seconds in times.items()}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:4])

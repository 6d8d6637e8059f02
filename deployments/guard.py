"""A process that outlives ``mindmem up`` by a moment: when the pipe from it closes, it ends what was left behind.

Run by path, with nothing but the standard library, so that it costs a few megabytes. ``orphans.py`` speaks to it: a
line ``+PID`` names a process group, ``-PID`` says that it has ended.
"""

import os
import signal
import sys
from contextlib import suppress

__all__ = ["main"]


def main() -> None:
    """Read until the other end is closed, by whatever ended it, then kill the groups that are still named."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()

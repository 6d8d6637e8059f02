"""Print pytest's time by suite from a JUnit file, and fail when PostgreSQL was not tested.

Usage: suites.py junit.xml
"""

import sys
import xml.etree.ElementTree as ET
from collections import defaultdict


def main(path: str) -> int:
    """Print the table; return 1 when no PostgreSQL test passed or any was skipped for want of a server."""
    seconds: dict[str, float] = defaultdict(float)
    number: dict[str, int] = defaultdict(int)
    tested, skipped = 0, 0
    for case in ET.parse(path).iter("testcase"):
        suite = ".".join(case.get("classname", "").split(".")[:3])
        seconds[suite] += float(case.get("time", "0"))
        number[suite] += 1
        reason = case.find("skipped")
        if reason is not None:
            skipped += "MINDMEM_TEST_POSTGRES" in f"{reason.get('message')}{reason.text}"
        else:
            tested += "postgres" in f"{case.get('classname')}{case.get('name')}".lower()
    for suite in sorted(seconds, key=lambda name: -seconds[name]):
        sys.stdout.write(f"{seconds[suite]:8.1f} s  {number[suite]:5d} tests  {suite}\n")
    sys.stdout.write(f"PostgreSQL: {tested} tests ran, {skipped} skipped\n")
    return 1 if skipped or not tested else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

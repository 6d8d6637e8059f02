"""Print pytest's time by suite beside its budget, from a JUnit file, and fail when PostgreSQL was not tested.

Usage: suites.py junit.xml

Budgets are seconds on two cores, 25 minutes in all. A suite over its budget is marked, and fails nothing: a busy
machine is no mistake of a change.
"""

import sys
import xml.etree.ElementTree as ET
from collections import defaultdict

BUDGETS = {
    "tests.core": 640,
    "tests.faults": 370,
    "tests.deployments": 160,
    "tests.flows": 120,
    "tests.benchmarks": 80,
    "tests.dashboards": 40,
    "tests.serve": 40,
    "tests.packaging": 10,
    "tests.contract": 5,
    "tests": 35,
}


def main(path: str) -> int:
    """Print the tables; return 1 when no PostgreSQL test passed or any was skipped for want of a server."""
    seconds: dict[str, float] = defaultdict(float)
    parts: dict[str, float] = defaultdict(float)
    number: dict[str, int] = defaultdict(int)
    tested, skipped = 0, 0
    for case in ET.parse(path).iter("testcase"):
        words = case.get("classname", "").split(".")
        suite = ".".join(words[:2])
        suite, part = (suite if suite in BUDGETS else "tests"), ".".join(words[:3])
        seconds[suite] += float(case.get("time", "0"))
        parts[part] += float(case.get("time", "0"))
        number[suite] += 1
        reason = case.find("skipped")
        if reason is not None:
            skipped += "MINDMEM_TEST_POSTGRES" in f"{reason.get('message')}{reason.text}"
        else:
            tested += "postgres" in f"{case.get('classname')}{case.get('name')}".lower()
    for suite, budget in BUDGETS.items():
        over = "  OVER ITS BUDGET" if seconds[suite] > budget else ""
        sys.stdout.write(f"{seconds[suite]:8.1f} s of {budget:4d}  {number[suite]:5d} tests  {suite}{over}\n")
    sys.stdout.write(f"{sum(seconds.values()):8.1f} s of {sum(BUDGETS.values()):4d}  in all; the longest parts:\n")
    for part in sorted(parts, key=lambda name: -parts[name])[:15]:
        sys.stdout.write(f"{parts[part]:8.1f} s  {part}\n")
    sys.stdout.write(f"PostgreSQL: {tested} tests ran, {skipped} skipped\n")
    return 1 if skipped or not tested else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

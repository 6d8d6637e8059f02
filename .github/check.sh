#!/usr/bin/env bash
# Checks everything: format, lint, imports, types, tests. Run it in an environment with '.[test]' installed;
# arguments go to pytest, for example: .github/check.sh -m "not slow"
set -euo pipefail
cd "$(dirname "$0")/.."
ruff format --check .
ruff check .
lint-imports
mypy
python -m pytest "$@"

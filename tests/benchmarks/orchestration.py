"""What Prefect costs: the flow ``ingest`` beside the same steps called directly, on a model that takes its time.

    python tests/benchmarks/orchestration.py --windows 100 --seconds 1 --concurrency 4 --repeats 3

Each run is a process of its own on a new store, in turn direct and as a flow; its start (interpreter, imports of its
entry) is told apart from the run. Both fold into the tables at the end, and ask the model once a window. The flow
talks to a real Prefect server, the reasoner to a scripted model on a real socket.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.careful_model import inbox_of_lockers, lockers
from support.model_server import ModelServer, reply, slow

from mindmem.deployments.api import Api
from mindmem.flows.environment import prefect_environment

__all__ = ["measure"]

WAYS: Final = ("direct", "flow")
_SERVER_SECONDS: Final = 180.0


def measure(folder: Path, *, windows: int, seconds: float, concurrency: int, repeats: int) -> dict[str, float]:
    """Return the medians in seconds: ``direct_s``, ``flow_s``, the starts ``direct_start_s`` and ``flow_start_s``, and
    ``overhead``, how much longer the flow took, as a share."""
    inbox_of_lockers(folder / "inbox", windows, users=windows)  # what one user said never contradicts another
    took: dict[str, list[float]] = {f"{way}{part}": [] for way in WAYS for part in ("_s", "_start_s")}
    with (
        ModelServer(lambda request: slow(seconds, reply(lockers(request)))) as model,
        prefect_server(folder / "prefect") as prefect,
    ):
        asked = {
            "MINDMEM_REASONER": "llm",
            "MINDMEM_EMBEDDER": "none",
            "MINDMEM_LLM__BASE_URL": model.url,
            "MINDMEM_LLM__MODEL": "test-model",
            "MINDMEM_LLM__CONCURRENCY": str(concurrency),
            "MINDMEM_INGEST__OVERLAP": str(concurrency),
        }
        for number in range(repeats):
            for way in WAYS:
                asked_before = len(model.requests)
                found = run_once(way, folder / f"{way}{number}", folder / "inbox", {**prefect, **asked})
                if (calls := len(model.requests) - asked_before) != windows:
                    raise AssertionError(f"one call a window was meant, {calls} came for {windows}")
                if found["memories"] != windows:
                    raise AssertionError(f"{windows} lockers were told, {found['memories']} are remembered")
                took[f"{way}_s"].append(found["run_s"])
                took[f"{way}_start_s"].append(found["start_s"])
    sys.stderr.write(json.dumps({name: [round(one, 2) for one in values] for name, values in took.items()}) + "\n")
    figures = {name: median(values) for name, values in took.items()}
    return {**figures, "overhead": figures["flow_s"] / figures["direct_s"] - 1}


def run_once(way: str, home: Path, inbox: Path, env: Mapping[str, str]) -> dict[str, float]:
    """Ingest in a process of its own, and return what it measured."""
    begun = time.time()
    command = [sys.executable, __file__, "--one", way, "--home", str(home), "--inbox", str(inbox)]
    done = subprocess.run(command, env=os.environ | env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr[-2000:])
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return {**found, "start_s": found["begun"] - begun}


def one(way: str, home: Path, inbox: Path) -> None:
    """Be that process."""
    import asyncio

    from mindmem.core.memory import Memory
    from mindmem.core.settings import Settings

    settings = Settings.load(home=home)
    if way == "direct":
        from mindmem.flows.direct import ingest_directly

        begun = time.time()
        ingest_directly(settings, inbox)
    else:
        from mindmem.flows.ingest import ingest

        begun = time.time()
        asyncio.run(ingest(inbox, home=home))
    run_s = time.time() - begun
    with Memory(settings=settings) as memory:
        memories = memory.list(include_total=True).total
    sys.stdout.write(json.dumps({"begun": begun, "run_s": run_s, "memories": memories}) + "\n")


@contextmanager
def prefect_server(home: Path) -> Iterator[dict[str, str]]:
    """Run a Prefect server as ``mindmem up`` does; yield the variables of processes that use it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = prefect_environment(home, f"http://127.0.0.1:{port}/api")
    Path(env["PREFECT_HOME"]).mkdir(parents=True)
    command = [sys.executable, "-m", "mindmem.deployments.server", "server", "start", "--port", str(port)]
    with subprocess.Popen(
        command, env=os.environ | env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            api, begun = Api(env["PREFECT_API_URL"]), time.monotonic()
            while not api.healthy():
                if server.poll() is not None or time.monotonic() - begun > _SERVER_SECONDS:
                    raise AssertionError("Prefect's server did not start")
                time.sleep(0.3)
            yield env
        finally:
            server.terminate()


def main() -> None:
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--inbox", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one, given.home, given.inbox)
        return
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(
            Path(folder),
            windows=given.windows,
            seconds=given.seconds,
            concurrency=given.concurrency,
            repeats=given.repeats,
        )
    sys.stdout.write(json.dumps({name: round(value, 3) for name, value in figures.items()}, indent=1) + "\n")


if __name__ == "__main__":
    main()

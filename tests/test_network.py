"""Nothing leaves the machine: neither in tests nor in the commands that people run."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support.network import LeftTheMachine

TESTS = Path(__file__).parent
GUARDED = """
import sys
sys.path.insert(0, {tests!r})
from support import network
network.forbid()
from mindmem.core.serve.cli import cli
cli.main({arguments!r}, prog_name="mindmem")
"""


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("8.8.8.8", 53)])
def test_a_connection_to_another_machine_is_refused_by_the_guard(address: tuple[str, int]) -> None:
    with socket.socket() as probe, pytest.raises(LeftTheMachine):
        probe.connect(address)


def test_a_name_look_up_is_refused_by_the_guard() -> None:
    with pytest.raises(LeftTheMachine):
        socket.getaddrinfo("api.example.org", 443)


def test_a_connection_to_this_machine_is_allowed_by_the_guard() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


def test_the_demo_opens_no_connection_to_another_machine(tmp_path: Path) -> None:
    arguments = ["demo", "--home", str(tmp_path / "home"), "--json"]
    done = subprocess.run(
        [sys.executable, "-c", GUARDED.format(tests=str(TESTS), arguments=arguments)],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

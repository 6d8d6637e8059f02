"""One `up` on a home, and words about who is in the way."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mindmem.core.errors import InvalidInput, StoreUnavailable
from mindmem.deployments.holder import AlreadyRunning, PortTaken, check_apart, check_port, held_home

ADDRESSES = {"Dashboard": "http://127.0.0.1:8501", "Prefect": "http://127.0.0.1:4200"}
HOLDS = """
import sys, time
from pathlib import Path
from mindmem.deployments.holder import held_home
with held_home(Path(sys.argv[1]), {"Dashboard": "http://127.0.0.1:8501", "Prefect": "http://127.0.0.1:4200"}):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_second_one_is_refused_with_the_addresses_of_the_first(home: Path) -> None:
    with held_home(home, ADDRESSES):
        with pytest.raises(AlreadyRunning) as refused, held_home(home, {}):
            pass
        assert str(refused.value) == (
            f"MindMem is up on {home} already (process {os.getpid()}): Dashboard at http://127.0.0.1:8501, Prefect at "
            "http://127.0.0.1:4200. Stop it with Ctrl-C where it runs, or choose another --home."
        )
    assert list(home.iterdir()) == [], "it leaves no file"
    with held_home(home, ADDRESSES):
        pass


@pytest.mark.faults
def test_a_killed_holder_holds_nothing(home: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDS, str(home)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(AlreadyRunning, match=f"process {holder.pid}"), held_home(home, {}):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert (home / "up.lock").exists()
    with held_home(home, ADDRESSES):
        pass


def test_a_taken_port_names_its_holder_and_another_port() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PortTaken) as refused:
            check_port(port, "--prefect-port")
    words = str(refused.value)
    assert words.startswith(f"Port {port} is taken")
    assert "choose another port with --prefect-port " in words
    assert int(words.rstrip(".").split()[-1]) > port
    if sys.platform == "linux":
        assert f"(process {os.getpid()})" in words
    check_port(port, "--prefect-port")


def test_a_home_that_can_not_be_one_is_refused_in_words(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for home in (file, file / "below"):
        with pytest.raises(StoreUnavailable) as refused, held_home(home, {}):
            pass
        assert str(refused.value).startswith(f"The home {home} can't be used: ")
        assert "--home or MINDMEM_HOME" in str(refused.value)


def test_one_port_for_two_is_refused_with_both_options() -> None:
    check_apart({"--prefect-port": 4200, "--dashboard-port": 8501})
    with pytest.raises(InvalidInput, match="--prefect-port and --dashboard-port both name port 4200"):
        check_apart({"--prefect-port": 4200, "--dashboard-port": 4200})

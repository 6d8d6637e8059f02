"""The package: sdist, then the wheel from it, hold what the tree holds, and the wheel's demo runs from elsewhere."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FOLDERS = ("core", "tasks", "flows", "dashboards", "deployments")
NOT_PACKAGED = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an sdist of the tree and the wheel built from it; nothing is downloaded."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    [found] = built.glob("*.whl")
    return found


def tree() -> dict[str, bytes]:
    """Return the tree's files under the names that they get in a wheel."""
    files = {
        f"mindmem/{file.relative_to(ROOT).as_posix()}": file.read_bytes()
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and not NOT_PACKAGED.intersection(file.parts)
    }
    namespace = ROOT / ".namespace" / "mindmem"
    return files | {f"mindmem/{name}": (namespace / name).read_bytes() for name in ("__init__.py", "py.typed")}


def test_the_wheel_holds_exactly_the_files_of_the_tree(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    assert packed.keys() == tree().keys()
    assert packed == tree()


def test_the_only_name_that_the_wheel_adds_is_mindmem(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"mindmem"}


def test_the_wheel_brings_its_types_and_its_vendored_data(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    data = {f"mindmem/{file.relative_to(ROOT).as_posix()}" for file in (ROOT / "core" / "embed" / "data").iterdir()}
    assert data
    assert data | {"mindmem/py.typed"} <= names


def test_the_sdist_holds_no_tests_links_or_caches(built: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    names = {member.name.split("/", 1)[1] for member in members if "/" in member.name}
    assert [member.name for member in members if member.issym() or member.islnk()] == []
    assert {name for name in names if name.startswith("tests/") or "__pycache__" in name} == set()
    assert {"README.md", "LICENSE", "pyproject.toml"} <= names


def test_the_installed_wheel_tells_the_demo_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, wheel]
    subprocess.run(install, check=True, timeout=120)
    code = "import mindmem; from mindmem.core.serve.cli import main; print(mindmem.__file__); main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "demo", "--json", "--home", str(elsewhere / "home")],
        cwd=elsewhere, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True, timeout=200,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    origin, story = done.stdout.split("\n", 1)
    assert Path(origin).is_relative_to(site)
    assert json.loads(story)["memories"]

"""The distribution: folders and lists agree, and what is built works when installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib import import_module, metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import hlteval

pytestmark = pytest.mark.long("sdist and wheel are built")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
ROOMS = ("converters", "grammars", "scoring", "validators")
BIN = "Scripts" if os.name == "nt" else "bin"
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info", "build", "dist"
)


def folder_of(package: str) -> Path:
    """The folder of a package: rooms are at the root, with the packages inside them."""
    _, room, *inner = [*package.split("."), ""]
    return ROOT.joinpath(room, *inner) if room in ROOMS else ROOT / package.replace(".", "/")


def files_of_packages() -> set[str]:
    """Every file that an installation must have, by its path in the wheel."""
    found = set()
    for package in SETUPTOOLS["packages"]:
        folder, place = folder_of(package), package.replace(".", "/")
        found |= {f"{place}/{path.name}" for path in folder.glob("*.py")}
        for pattern in SETUPTOOLS["package-data"].get(package, ()):
            data = [path for path in folder.glob(pattern) if path.is_file()]
            assert data, f"{package} has no {pattern}"
            found |= {f"{place}/{path.relative_to(folder).as_posix()}" for path in data}
    return found


def test_four_rooms_are_folders_at_the_root_without_links():
    """A download as a zip has no links, nor has a checkout on every system."""
    rooms = {f"hlteval.{room}": room for room in ROOMS}
    assert SETUPTOOLS["package-dir"] == {"hlteval": "hlteval", **rooms}
    listed = subprocess.run(
        ["git", "ls-files", "--stage"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert not [line for line in listed.stdout.splitlines() if line.startswith("120000")]
    for room in ROOMS:
        assert not (ROOT / "hlteval" / room).exists()
        module = import_module(f"hlteval.{room}")
        assert module.__file__ and Path(module.__file__).parent == ROOT / room


def test_every_package_is_listed():
    inits = [path for room in ("hlteval", *ROOMS) for path in (ROOT / room).rglob("__init__.py")]
    names = [".".join(path.parent.relative_to(ROOT).parts) for path in inits]
    packages = [name if name.startswith("hlteval") else f"hlteval.{name}" for name in names]
    assert sorted(packages) == SETUPTOOLS["packages"]


def test_all_that_is_no_module_is_declared_as_data():
    declared = files_of_packages()
    for package in SETUPTOOLS["packages"]:
        folder, place = folder_of(package), package.replace(".", "/")
        present = {f"{place}/{path.name}" for path in folder.iterdir() if path.is_file()}
        assert present <= declared


def test_one_version():
    assert PROJECT["project"]["version"] == hlteval.__version__
    newest = re.search(r"^## ([0-9.]+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert newest and newest[1] == hlteval.__version__


def requirements() -> list[str]:
    optional = PROJECT["project"]["optional-dependencies"]
    return [*PROJECT["project"]["dependencies"], *optional["dev"], *optional["docs"]]


def constraints(name: str) -> dict[str, str]:
    """The versions of a file of constraints, by name."""
    lines = (ROOT / name).read_text("utf-8").splitlines()
    pinned = [line.split("==") for line in lines if line and not line.startswith("#")]
    assert pinned == sorted(pinned)
    return dict(pinned)


@pytest.fixture(scope="module")
def pins() -> dict[str, str]:
    """The newest versions that are tested."""
    return constraints("constraints.txt")


@pytest.fixture(scope="module")
def oldest() -> dict[str, str]:
    """The oldest versions that are tested."""
    return constraints("constraints-oldest.txt")


@pytest.mark.skipif(
    (sys.platform, *sys.version_info[:2]) != ("linux", 3, 11),
    reason="what is needed differs a little between platforms and versions of Python",
)
def test_constraints_pin_what_is_needed_and_nothing_else(pins):
    if metadata.version("polars") != pins["polars"]:
        pytest.skip("the libraries here are not those of constraints.txt")
    needed: dict[str, str] = {}
    waiting = [Requirement(line) for line in requirements()]
    while waiting:
        requirement = waiting.pop()
        name = canonical(requirement.name)
        extras = requirement.extras or {""}
        if name not in pins or needed.get(name) == str(sorted(extras)):
            needed.setdefault(name, "")
            continue
        needed[name] = str(sorted(extras))
        inner = map(Requirement, metadata.requires(name) or ())
        waiting += [item for item in inner if wanted(item, extras)]
    assert needed.keys() == pins.keys()


def wanted(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def canonical(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def test_constraints_agree_with_the_bounds(pins):
    for requirement in map(Requirement, [*requirements(), *PROJECT["build-system"]["requires"]]):
        assert requirement.specifier.contains(pins[canonical(requirement.name)])


EXTRAS = ("cluster", "lsp", "mt", "serve", "watch")


def needed_libraries() -> list[str]:
    optional = PROJECT["project"]["optional-dependencies"]
    return [*PROJECT["project"]["dependencies"], *(name for e in EXTRAS for name in optional[e])]


def lower_bounds() -> dict[str, str]:
    """The lower bound of each library that hlteval needs, some commands only (`EXTRAS`)."""
    needed = map(Requirement, needed_libraries())
    return {
        canonical(item.name): clause.version
        for item in needed
        for clause in item.specifier
        if clause.operator == ">="
    }


def test_the_oldest_constraints_are_the_lower_bounds(oldest):
    bounds = lower_bounds()
    assert len(bounds) == len(needed_libraries())
    for name, bound in bounds.items():
        assert Version(oldest[name]) == Version(bound), name
    for requirement in map(Requirement, requirements()):
        assert requirement.specifier.contains(oldest[canonical(requirement.name)])


def test_the_oldest_constraints_differ_in_nothing_else(oldest, pins):
    """What those libraries need in other versions, and statsmodels, whose newest needs NumPy 2."""
    follow = {"click", "dask", "numpy-typing-compat", "pandas", "pytz", "statsmodels"}
    follow |= {"polars-runtime-32"}
    differing = {name for name, version in oldest.items() if pins.get(name) != version}
    assert differing - lower_bounds().keys() == follow


def test_polars_is_accepted_from_1_40_up_to_the_next_major_version():
    (polars,) = (
        requirement
        for requirement in map(Requirement, PROJECT["project"]["dependencies"])
        if requirement.name == "polars"
    )
    versions = ("1.40.0", "1.44.2", "2.0.0", "2.1.0", "2.9.0")
    assert [polars.specifier.contains(version) for version in versions] == [True] * 5
    assert not any(polars.specifier.contains(version) for version in ("1.39.9", "3.0.0"))


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(
    ("goal", "installed"),
    [
        ("demo", ["constraints.txt setuptools", "constraints.txt -e ."]),
        (
            "lint",
            ["constraints.txt setuptools", "constraints.txt -e .", "constraints.txt -e '.[dev]'"],
        ),
        (
            "test-oldest",
            ["constraints-oldest.txt setuptools", "constraints-oldest.txt -e '.[dev]'"],
        ),
    ],
)
def test_make_installs_what_a_goal_needs_and_no_more(goal, installed, tmp_path):
    environments = (f"VENV={tmp_path / 'new'}", f"OLDEST={tmp_path / 'old'}")
    planned = run("make", "--dry-run", *environments, goal, folder=ROOT)
    found = [line.partition(" -c ")[2] for line in planned.splitlines() if " -c " in line]
    assert found == installed


def run(*command: str | Path, folder: Path) -> str:
    """The output of a command that must succeed."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["PYTHONIOENCODING"] = "utf-8"
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, and the wheel that is built from it and from nothing else."""
    folder = tmp_path_factory.mktemp("build")
    shutil.copytree(ROOT, folder / "source", ignore=NOT_COPIED)
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist"]
    run(*build, folder / "source", folder=folder)
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    (path,) = distributions.glob("*.whl")
    return path


@pytest.mark.thorough
@pytest.mark.packaging
def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    information = f"hlteval-{hlteval.__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"hlteval", information}
    assert {name for name in names if name.startswith("hlteval/")} == files_of_packages()
    assert f"{information}/licenses/LICENSE" in names


@pytest.mark.thorough
@pytest.mark.packaging
def test_the_source_distribution_holds_each_file_once(distributions):
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert not {name for room in ROOMS for name in names if name.startswith(f"hlteval/{room}/")}
    assert {f"{room}/__init__.py" for room in ROOMS} <= names
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    committed = {name for name in listed.stdout.decode().split("\0") if (ROOT / name).is_file()}
    assert committed - names <= {".gitignore"}
    assert {"Makefile", "conftest.py", "fixtures/source/invalid/SRC202-mark.txt"} <= names


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh environment that holds the wheel.

    The libraries are those of this environment, by a path file: path files of theirs, such as that
    of an editable installation, are not followed from there.
    """
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(folder, with_pip=False)
    python = folder / BIN / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    run(*pip, "install", "--no-index", "--no-deps", "--no-compile", wheel, folder=folder)
    site = run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder
    )
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    Path(site.strip(), "libraries.pth").write_text("\n".join(libraries), "utf-8")
    return folder / BIN


@pytest.mark.thorough
@pytest.mark.packaging
def test_it_works_where_it_is_installed(installed, tmp_path):
    where = "import hlteval.validators; print(hlteval.validators.__file__)"
    assert Path(run(installed / "python", "-c", where, folder=tmp_path)).is_relative_to(
        installed.parent
    )
    version = run(installed / "hlteval", "--version", folder=tmp_path)
    assert version == f"hlteval {hlteval.__version__}\n"
    shown = run(installed / "hlteval", "demo", folder=tmp_path)
    assert "error[STD302]" in shown
    assert "profile official" in shown
    assert (tmp_path / "hlteval-demo" / "scores" / "scores.json").is_file()
    assert "STD302" in run(installed / "hlteval", "explain", "STD302", folder=tmp_path)


@pytest.mark.thorough  # the wheel that is installed has no file that is not in `hlteval`
@pytest.mark.packaging
def test_no_room_is_a_module_of_its_own(installed, tmp_path):
    look = "import importlib.util as u, sys; print([u.find_spec(n) for n in sys.argv[1:]])"
    found = run(installed / "python", "-c", look, *ROOMS, folder=tmp_path)
    assert found.strip() == str([None] * len(ROOMS))

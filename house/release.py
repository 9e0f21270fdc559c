"""Releases: `make dist` builds the distributions, checks them, and tries them with each Python.

What is built is what is committed, with the time of the commit: two builds in different folders,
zones and file modes give the same bytes, and so does everybody's.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hlteval import __version__, tasks

ROOT = Path(__file__).parents[1]
BIN = "Scripts" if os.name == "nt" else "bin"
EXTRAS = "mt"
"""What the scores of all tasks need beside the wheel."""


class Unfit(Exception):
    """What is in the way of a release."""


def run(*command: str | Path, folder: Path = ROOT, **variables: str) -> str:
    """Return the output of a command.

    Raises:
        Unfit: if it fails, with its output.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**kept, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        umask=-1 if os.name == "nt" else 0o022,  # the modes of files are in the distributions
        check=False,
    )
    if done.returncode:
        raise Unfit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def notes(changelog: str, version: str = __version__) -> str:
    r"""Return the section of a version in the changelog, for the page of the release.

    Raises:
        Unfit: if there is none.

    Examples:
        >>> notes("# Changes\n\n## 0.2.0, 2026-12-01\n\n- New.\n\n## 0.1.0\n", "0.2.0")
        '- New.\n'
    """
    found = re.search(rf"^## {re.escape(version)}\b.*\n((?:(?!## ).*\n?)*)", changelog, re.M)
    if not found:
        raise Unfit(f"CHANGELOG.md has no section ## {version}")
    return found[1].strip("\n") + "\n"


def check_tag(tag: str, changelog: str, version: str = __version__) -> None:
    r"""Check that a tag is that of the version, whose section in the changelog has a date.

    Raises:
        Unfit: if it is not.

    Examples:
        >>> check_tag("v0.2.0", "## 0.2.0, 2026-12-01\n", "0.2.0")
        >>> check_tag("v0.2.1", "## 0.2.0, 2026-12-01\n", "0.2.0")
        Traceback (most recent call last):
        house.release.Unfit: the tag is v0.2.1, the version 0.2.0 (hlteval/__init__.py)
    """
    if tag != f"v{version}":
        raise Unfit(f"the tag is {tag}, the version {version} (hlteval/__init__.py)")
    if not re.search(rf"^## {re.escape(version)}, \d{{4}}-\d\d-\d\d$", changelog, re.M):
        raise Unfit(f"CHANGELOG.md has no line ## {version}, YEAR-MONTH-DAY")


def add_addresses(source: Path, repository: str, tag: str) -> None:
    """Write the addresses of a repository into the metadata, and absolute links into the readme.

    Forks release under addresses of their own, so that none is in the repository itself.
    """
    pages = f"{repository}/blob/{tag}"
    project = source / "pyproject.toml"
    urls = {
        "Source": repository,
        "Documentation": f"{pages}/docs/start.md",
        "Changelog": f"{pages}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    table = "".join(f'{name} = "{address}"\n' for name, address in urls.items())
    text = project.read_text("utf-8")
    project.write_text(
        text.replace("[project.scripts]", f"[project.urls]\n{table}\n[project.scripts]"), "utf-8"
    )
    readme = source / "README.md"
    text = re.sub(r"(?<=\]\()(?![a-z]+:|#)", f"{pages}/", readme.read_text("utf-8"))
    readme.write_text(text, "utf-8")


def export(commit: str, folder: Path) -> None:
    """Write the files of a commit, with modes that do not depend on who does it."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")


def normalize(path: Path, seconds: int) -> None:
    """Write a source distribution again: sorted, at one time, of nobody, with plain modes."""
    with tarfile.open(path) as archive:
        members = sorted(archive.getmembers(), key=lambda member: member.name)
        contents = {member.name: archive.extractfile(member) for member in members}
        data = {name: file.read() for name, file in contents.items() if file}
    with (
        path.open("wb") as stream,
        gzip.GzipFile("", "wb", fileobj=stream, mtime=seconds) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member in members:
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.size, plain.mtime = member.type, member.size, seconds
            plain.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            archive.addfile(plain, io.BytesIO(data.get(member.name, b"")))


def build(commit: str, folder: Path, repository: str = "", **variables: str) -> Sequence[Path]:
    """Build both distributions of a commit: the wheel from the source distribution alone.

    Args:
        commit: what is built.
        folder: where they are written.
        repository: its address, for the metadata.
        variables: those of the environment.
    """
    seconds = run("git", "log", "-1", "--format=%ct", commit).strip()
    python = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder]
    variables = {"SOURCE_DATE_EPOCH": seconds, **variables}
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary, "source")
        export(commit, source)
        if repository:
            add_addresses(source, repository, f"v{__version__}")
        run(*python, "--sdist", source, folder=source, **variables)
        (packed,) = folder.glob("*.tar.gz")
        normalize(packed, int(seconds))
        with tarfile.open(packed) as archive:
            archive.extractall(temporary, filter="data")
        unpacked = Path(temporary, packed.name.removesuffix(".tar.gz"))
        run(*python, "--wheel", unpacked, folder=unpacked, **variables)
    return sorted(folder.iterdir())


def check_equal(first: Iterable[Path], second: Iterable[Path]) -> Mapping[str, str]:
    """Return the SHA-256 of files by their names.

    Raises:
        Unfit: if another build gave other ones.
    """
    sums, others = (
        {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
        for paths in (first, second)
    )
    if sums != others:
        raise Unfit(f"two builds differ: {sums}, {others}")
    return sums


def write_corpora(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """Write a reference and a submission per task, and return what `score` is called with."""
    from benchmarks.generators import generator
    from hlteval.converters.corpus.jsonl import write_jsonl

    words = {}
    for name in tasks.BUILTIN:
        if tasks.load(name).metric is None:
            continue
        for side, corpus in zip(("reference", "system"), generator(name)(12, 3, 0), strict=True):
            with (folder / f"{name}-{side}.jsonl").open("wb") as stream:
                write_jsonl(corpus, stream)
        reference = () if tasks.load(name).scored_alone else ("-r", f"{name}-reference.jsonl")
        words[name] = (name, *reference, "-s", f"{name}-system.jsonl", "--lenient")
    return words


def try_wheel(wheel: Path, python: str, wheels: Path) -> Mapping[str, str]:
    """Install a wheel in an empty environment, run the demonstration, and score all tasks.

    Args:
        wheel: it.
        python: the program of a Python.
        wheels: a folder of wheels of what it needs; those that are missing are downloaded, and
            the installation is without network.

    Returns:
        The scores of each task, as JSON with 12 digits: sacrebleu adds numbers with `sum`, which is
        more exact since Python 3.12.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        run(python, "-m", "venv", "--without-pip", folder / "environment")
        program = folder / "environment" / BIN / "python"
        pip = (sys.executable, "-m", "pip", "--python", program, "--disable-pip-version-check")
        binary = ("--only-binary", ":all:", "--find-links", wheels, f"{wheel}[{EXTRAS}]")
        run(*pip, "download", "--quiet", "--dest", wheels, *binary)
        run(*pip, "install", "--quiet", "--no-index", *binary)
        hlteval = program.with_name("hlteval")
        shown = run(hlteval, "demo", "demo", folder=folder)
        if "error[STD302]" not in shown or "profile official" not in shown:
            raise Unfit(f"the demonstration shows something else with {python}:\n{shown}")
        called = write_corpora(folder)
        outputs = {
            name: run(hlteval, "score", *words, "--format", "json", folder=folder)
            for name, words in called.items()
        }
    return {
        name: re.sub(r"\d+\.\d{10,}", lambda number: f"{float(number[0]):.12g}", text)
        for name, text in outputs.items()
    }


def make(folder: Path, pythons: Sequence[str], repository: str, tag: str) -> None:
    """Build, check and try a release; nothing is written unless all goes well.

    Args:
        folder: where the distributions are written.
        pythons: the programs of the Pythons that they are tried with.
        repository: the address of the repository, for the metadata.
        tag: the tag of the release; empty for a trial.
    """
    if tag:
        check_tag(tag, (ROOT / "CHANGELOG.md").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        first, second, wheels = (Path(temporary, name) for name in ("first", "second", "wheels"))
        built = build("HEAD", first, repository, TZ="UTC")
        again = build("HEAD", second, repository, TZ="Asia/Tokyo", LC_ALL="C")
        sums = check_equal(built, again)
        run(sys.executable, "-m", "twine", "check", "--strict", *built)
        run(Path(sys.executable).with_name("check-wheel-contents"), *first.glob("*.whl"))
        (wheel,) = first.glob("*.whl")
        scores = {python: try_wheel(wheel, python, wheels) for python in pythons}
        for python, found in scores.items():
            different = [name for name in found if found[name] != scores[pythons[0]][name]]
            if different:
                raise Unfit(f"{python} and {pythons[0]} score differently: {', '.join(different)}")
            print(f"{python}: demonstration and {len(found)} tasks")
        folder.mkdir(parents=True, exist_ok=True)
        for path in built:
            shutil.copy2(path, folder)
    print(*(f"{total}  {name}" for name, total in sums.items()), sep="\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Build a release, or print its notes."""
    parser = argparse.ArgumentParser(prog="python -m house.release", description=__doc__)
    parser.add_argument("what", choices=["build", "notes"])
    parser.add_argument("--folder", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", nargs="*", default=[sys.executable], dest="pythons")
    parser.add_argument("--repository", default="", help="its address, for the metadata")
    parser.add_argument("--tag", default="", help="the tag, which must be that of the version")
    given = parser.parse_args(arguments)
    try:
        if given.what == "notes":
            print(notes((ROOT / "CHANGELOG.md").read_text("utf-8")), end="")
        else:
            make(given.folder, given.pythons, given.repository.rstrip("/"), given.tag)
    except Unfit as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

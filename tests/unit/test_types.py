"""mypy checks what programs and declarations name, also what is imported only where it is used."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from functools import partial
from pathlib import Path

import msgspec
import pytest
from mypy import api

from hlteval import converters
from hlteval.extensions import LazyImport, make_function, resolve
from hlteval.tasks import BUILTIN, load

pytestmark = pytest.mark.long("mypy reads the package")

ROOT = Path(__file__).parents[2]
DECLARATIONS = """
from collections.abc import Callable
from hlteval.extensions import lazy

FUNCTION: Callable[[int, int], int] = lazy("math:gcd")
VALUE: Callable[[], str] = lazy("string:digits")
CLASS: Callable[[str], object] = lazy("pathlib:Path")
WRONG_VALUE: Callable[[], str] = lazy("math:pi")
WRONG_FUNCTION: Callable[[], str] = lazy("statistics:mean")
MISSING: Callable[[], str] = lazy("string:nothing")
"""
PROGRAM = """
from io import BytesIO
from pathlib import Path

import polars as pl

import hlteval


def table(path: Path, source: hlteval.Input) -> pl.DataFrame:
    corpus, findings = hlteval.read(source)
    verdict: hlteval.Verdict = hlteval.validate("seedev-full", corpus, against=path)
    frame: pl.DataFrame = verdict.findings.to_frame()
    scores = hlteval.score(
        "hub4", path, {"frames": frame}, bootstrap=1000, noisy=True, fillers=["uh"], beta=2
    )
    compared = hlteval.compare("hub4", path, {"a": path, "b": BytesIO(b"")}, options={"beta": 1.5})
    hlteval.convert(frame, BytesIO(), to_format="jsonl", settings={"header": "yes"})
    rank: int | None = compared.systems[0].rank
    codes: list[str] = [finding.code for finding in findings[:3]]
    print(rank, codes)
    return scores.to_frame()
"""


HEAD = """
from functools import partial
from hlteval.extensions import lazy
from hlteval.tasks import task
"""
HEAD_OF_FORMATS = """
from functools import partial
from typing import Any
from hlteval.converters.format import Format
from hlteval.extensions import lazy
any_of: Any = None
"""
FUNCTIONS = ("sniff", "read", "locate", "write", "documents", "tabular", "count_losses")
REQUIRED = {"Task": "'', '', '', '', ", "Option": "'', '', ", "AlignmentInfo": "'', (), "}


def reference(value: object) -> str:
    """The Python code of a reference to a function; empty for anything else."""
    match value:
        case LazyImport(named=named):
            return f'lazy("{named}")'
        case partial(func=LazyImport(named=named), keywords=keywords):
            arguments = ", ".join(f"{name}={argument!r}" for name, argument in keywords.items())
            return f'partial(lazy("{named}"), {arguments})'
    return ""


def references(value: object) -> Iterator[str]:
    """The references to functions of a declaration, each as an argument of what declares it."""
    match value:
        case tuple():
            for item in value:
                yield from references(item)
        case msgspec.Struct():
            kind = type(value).__name__
            for field in value.__struct_fields__:
                if code := reference(getattr(value, field)):
                    yield f"task.{kind}({REQUIRED.get(kind, '')}{field}={code})\n"
                yield from references(getattr(value, field))


def declared_formats() -> Iterator[str]:
    """The functions of each format, of its module or named by its file, as arguments of it."""
    for module in converters.BUILTIN.values():
        tables, own = converters.read_declaration(module), vars(resolve(module))
        functions = {
            name: reference(make_function(object, tables[name]))
            if name in tables
            else f"{module}.{name}"
            for name in FUNCTIONS
            if name in tables or name in own
        }
        given = {"sniff": "any_of", "read": "any_of", "locate": "any_of", **functions}
        arguments = ", ".join(f"{name}={function}" for name, function in given.items())
        yield f"import {module}\n"
        yield f"Format(name='', title='', suffixes=(), carries=(), {arguments})\n"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package as it is installed, which `make types` checks."""
    folder = tmp_path_factory.mktemp("package")
    build = ["-c", "from setuptools import setup; setup()", "--quiet", "build_py", "--build-lib"]
    subprocess.run([sys.executable, *build, folder], cwd=ROOT, check=True)
    return folder


@pytest.mark.pinned
@pytest.mark.thorough
@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_the_package_is_typed_for_other_systems(platform: str, package: Path) -> None:
    """What a system does not have is not called there: `os.killpg`, `fcntl`, `signal.SIGALRM`."""
    config = ["--config-file", str(ROOT / "pyproject.toml"), "--platform", platform]
    with chdir(package):
        output, errors, status = api.run(config)
    assert (errors, status) == ("", 0), output


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory, package: Path) -> dict[str, list[str]]:
    """The errors of both, by file; what `make types` has cached is not checked again."""
    folder = tmp_path_factory.mktemp("types")
    named = {line: None for name in BUILTIN for line in references(load(name))}
    written = {
        "program": PROGRAM,
        "declarations": DECLARATIONS,
        "files": HEAD + "".join(named),
        "formats": HEAD_OF_FORMATS + "".join(declared_formats()),
    }
    paths = [folder / f"{name}.py" for name in written]
    for path in paths:
        path.write_text(written[path.stem], "utf-8")
    config = [
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(ROOT / ".mypy_cache"),
    ]
    with chdir(package):
        output, errors, status = api.run([*config, "--no-color-output", *map(str, paths)])
    assert (errors, status) == ("", 1)
    found = re.findall(r"(\w+)\.py:(\d+: error: .*)", output)
    return {path.stem: [text for name, text in found if name == path.stem] for path in paths}


def test_a_program_is_checked_by_its_types(errors: dict[str, list[str]]) -> None:
    assert errors["program"] == []


def test_what_files_of_tasks_refer_to_has_the_types_that_declarations_need(
    errors: dict[str, list[str]],
) -> None:
    assert errors["files"] == []


def test_the_functions_of_formats_have_the_types_that_these_need(
    errors: dict[str, list[str]],
) -> None:
    assert errors["formats"] == []


def test_a_declaration_of_another_type_is_an_error(errors: dict[str, list[str]]) -> None:
    found = errors["declarations"]
    assert [line.partition(":")[0] for line in found] == ["8", "9", "10"]
    assert "string:nothing names nothing with a type" in found[-1]

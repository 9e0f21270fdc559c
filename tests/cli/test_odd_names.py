"""Names of inputs and outputs that are not UTF-8, in every command that reads or writes a file."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from fuzz.commands import CAMPAIGN
from hlteval.converters import known, load
from tests.cli.conftest import FIXTURES, Invoke

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"
ODD = b"bad\xff".decode(errors="surrogateescape")
FORMS = ("text", "json", "tsv", "markdown", "latex")
HUB4 = "hub4 -r comparison/reference.tpl"
EDL = "lorehlt-edl annotators/ada.tab"
pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")


@pytest.fixture(autouse=True)
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the demonstration, as the working directory."""
    folder = tmp_path / "demo"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns("tutorials", "leaderboard"))
    (folder / "campaign.toml").write_bytes(CAMPAIGN)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "line",
    [
        f"score {HUB4} -s comparison/bold.tpl -o",
        f"score {HUB4} -s comparison/bold.tpl --report",
        f"score {HUB4} -s comparison/bold.tpl --plot",
        *(f"score {HUB4} -s comparison/bold.tpl --output-file {form}=" for form in FORMS),
        f"compare {HUB4} comparison/bold.tpl comparison/careful.tpl --bootstrap 9 --report",
        f"leaderboard {HUB4} comparison/bold.tpl --bootstrap 9 -o",
        f"agreement {EDL} annotators/bo.tab --bootstrap 9 --report",
        "validate lorehlt-edl entities/flawed.tab --report",
        "validate lorehlt-edl quoted.tab --fix",
        "campaign campaign.toml -o",
        "campaign campaign.toml --cache",
    ],
)
def test_an_output_has_any_name(line: str, invoke: Invoke) -> None:
    rows = Path("entities/reference.tab").read_text("utf-8").splitlines()
    quoted = ['"' + row.replace("\t", '"\t"') + '"\n' for row in rows]
    Path("quoted.tab").write_text("".join(quoted), "utf-8")
    suffixes = {"--report": ".html", "--plot": ".svg", "--fix": ".tab"}
    name = ODD + suffixes.get(line.rsplit(maxsplit=1)[-1], "")
    words = f"{line} {name}".replace("= ", "=").split()
    assert invoke(*words).exit_code in {0, 1}
    assert Path(name).exists()


def test_no_archive_is_packed_under_a_name_that_is_refused(invoke: Invoke) -> None:
    result = invoke("pack", "seedev-full", "system", "--against", "reference", "-o", f"{ODD}.tgz")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "bad\\xff.tgz is not valid UTF-8" in " ".join(result.stderr.split())
    assert not list(Path().glob("*.tgz"))


def test_a_conversion_names_the_reason(invoke: Invoke) -> None:
    """It said that the input matches no known format."""
    shutil.copytree("reference", ODD)
    Path("empty").mkdir()
    for source, reason in ((ODD, "is not valid UTF-8"), ("empty", "folder contains no files")):
        result = invoke("convert", source, "out", "--to", "brat")
        assert result.exit_code == 2
        assert reason in " ".join(result.stderr.split())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [each for each in known() if load(each).write])
def test_every_format_is_written_under_any_name(name: str, demo: Path, invoke: Invoke) -> None:
    source = demo / "system.jsonl"
    folder = FIXTURES / name / "valid"
    if load(name).reads and folder.is_dir():
        inner = sorted(path for path in folder.iterdir() if path.is_dir())
        source = next(iter(inner), folder) if inner else folder
    for target in (ODD, f"{ODD}{next(iter(load(name).suffixes), '')}"):
        result = invoke("convert", source, target, "--to", name, "--force")
        assert result.exit_code in {0, 1, 2}


@pytest.mark.parametrize("given", [(), ("--lenient",)])
@pytest.mark.parametrize(
    "line",
    [
        f"score {HUB4} -s",
        f"compare {HUB4} comparison/careful.tpl",
        f"leaderboard {HUB4} comparison/careful.tpl",
        f"agreement {EDL}",
    ],
)
def test_an_input_has_any_name(line: str, given: tuple[str, ...], invoke: Invoke) -> None:
    """In all formats: the first is printed, and nothing is in the others that is not in it."""
    name = ODD + (".tab" if line.startswith("agreement") else ".tpl")
    shutil.copy("annotators/bo.tab" if name.endswith(".tab") else "comparison/bold.tpl", name)
    files = [f"--output-file={form}=out.{form}" for form in FORMS]
    result = invoke(*line.split(), name, *given, *files, "--bootstrap", "9")
    assert result.exit_code == (0 if given else 1)
    assert ODD not in result.stdout + result.stderr
    written = [Path(f"out.{form}") for form in FORMS if Path(f"out.{form}").exists()]
    assert not given or len(written) == len(FORMS)
    assert not [path for path in written if ODD in path.read_text("utf-8", "surrogateescape")]


@pytest.mark.parametrize("form", ["text", "concise", "json", "jsonl", "sarif", "github", "junit"])
def test_a_submission_of_any_name_is_validated(form: str, invoke: Invoke) -> None:
    shutil.copy("comparison/bold.tpl", f"{ODD}.tpl")
    result = invoke("validate", "hub4", f"{ODD}.tpl", "--format", form)
    assert result.exit_code == 1
    assert "SRC117" in result.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("inspect",),
        ("config",),
        ("campaign",),
        ("pack", "seedev-full", "-o", "out.tgz"),
        ("manifest", "check"),
        ("manifest", "best"),
        ("verify", "-r", "reference", "-s", "system"),
        ("convert", "out", "--to", "jsonl"),
    ],
)
def test_other_commands_read_any_name(words: tuple[str, ...], invoke: Invoke) -> None:
    shutil.copytree("system", ODD)
    shutil.copy("campaign.toml", f"{ODD}.toml")
    at = 2 if words[0] in {"pack", "manifest"} else 1
    name = f"{ODD}.toml" if words[0] in {"campaign", "manifest", "verify"} else ODD
    result = invoke(*words[:at], name, *words[at:])
    assert result.exit_code in {0, 1, 2}
    assert "internal error" not in result.output

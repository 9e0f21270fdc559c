"""Other formats come back as they were from BioC and PubAnnotation."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert

FIXTURES = Path(__file__).parents[3] / "fixtures"
SUFFIXES = {
    "bioc-xml": ".bioc.xml",
    "bioc-json": ".bioc.json",
    "pubannotation": ".pubannotation.json",
}


def lines(path: Path) -> dict[str, list[str]]:
    """The lines of a file, or of each file of a folder, in any order."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {
        file.name if path.is_dir() else "": sorted(file.read_text("utf-8").split("\n"))
        for file in files
    }


@pytest.mark.parametrize("through", SUFFIXES)
@pytest.mark.parametrize(
    ("form", "path"),
    [
        ("standoff", "standoff/valid/full"),
        ("standoff", "standoff/valid/binary"),
        ("brat", "brat/valid"),
        ("edl-tab", "lorehlt-edl/valid/submission.tab"),
    ],
)
def test_there_and_back(form: str, path: str, through: str, tmp_path: Path) -> None:
    there, back = tmp_path / f"there{SUFFIXES[through]}", tmp_path / "back"
    losses = convert(str(FIXTURES / path), str(there))
    assert [finding for finding in losses if finding.code != "CNV102"] == []
    convert(str(there), str(back), to_format=form)
    assert lines(back) == lines(FIXTURES / path)


@pytest.mark.parametrize("form", ["label-studio", "doccano", "prodigy", "spacy-json"])
def test_a_mention_without_characters_is_a_loss(form: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    lines = ("#FORMAT=WebAnno TSV 3.3", "#T_SP=webanno.custom.Gap|value", "", "", "#Text=Ann ran")
    path.write_text("\n".join((*lines, "1-1\t0-3\tAnn\t_\t", "1-1.1\t3-3\t\tGAP\t", "")), "utf-8")
    found = convert(str(path), str(tmp_path / "out"), to_format=form)
    lost = [item.message for item in found if "without characters" in item.message]
    assert lost == [f"{form} cannot represent 1 mention without characters"]

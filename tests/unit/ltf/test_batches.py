"""Documents with the id of an earlier one are found whatever the size of a batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.workflows import conversion, validation

FIRST = Path(__file__).parents[3] / "fixtures" / "ltf" / "valid"


def _copies(folder: Path, names: str) -> None:
    """The files of documents that all have the id of the first."""
    folder.mkdir()
    text = next(FIRST.glob("*.ltf.xml")).read_text("utf-8")
    own = text.partition('<DOC id="')[2].partition('"')[0]
    for name in names:
        copy = text.replace(f'<DOC id="{own}"', '<DOC id="a"')
        # A copy that is left out is not checked either.
        copy = copy if name == "a" else copy.replace('pos="word"', 'pos="other"')
        (folder / f"{name}.ltf.xml").write_text(copy, "utf-8")


@pytest.mark.parametrize("against", [False, True], ids=["alone", "with-texts"])
def test_repeated_documents_do_not_depend_on_batches(against: bool, tmp_path: Path) -> None:
    _copies(tmp_path / "run", "abcd")
    _copies(tmp_path / "texts", "a")
    texts = str(tmp_path / "texts") if against else None
    found = [
        validation.validate("ltf", str(tmp_path / "run"), against=texts, batch=size)
        for size in (1, 2, 3, 500)
    ]
    assert [verdict.findings for verdict in found] == [found[0].findings] * 4
    repeated = [item for item in found[0].findings if item.code == "LTF105"]
    assert [Path(item.file or "").name[0] for item in repeated] == ["b", "c", "d"]
    assert all("a.ltf.xml" in item.message for item in repeated)
    assert not [item for item in found[0].findings if item.code == "LTF407"]
    assert [verdict.documents for verdict in found] == [1, 1, 1, 1]


def test_a_conversion_leaves_repeated_documents_out_in_every_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _copies(tmp_path / "run", "abc")
    monkeypatch.setattr("hlteval.converters.toolkit.per_document.BATCH", 1)
    corpus, findings = conversion.read(str(tmp_path / "run"))
    assert corpus.documents["name"].to_list() == ["a"]
    assert [item.code for item in findings] == ["LTF105", "LTF105"]

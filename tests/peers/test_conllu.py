"""CoNLL-U Plus beside the package conllu: what one of them writes, the other reads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from hlteval.converters import load
from hlteval.sources import open_source
from tests.effort import tries
from tests.unit.columns.test_tag_writing import corpus_of, tagged

conllu = pytest.importorskip("conllu")
FORM = load("conllu-plus")


def own_tokens(path):
    """The sentences of a file as we read them: words and tags."""
    (read,) = FORM.read(open_source(str(path)))
    assert read.findings == ()
    rows = read.corpus.tokens.select("segment_row", "text", "tag").rows()
    return [
        [(word, tag) for row, word, tag in rows if row == at]
        for at in range(read.corpus.segments.height)
    ]


@given(drawn=tagged())
@settings(max_examples=tries(200), deadline=None)
def test_what_is_written_is_read_by_the_package_and_back(drawn, tmp_path_factory):
    folder = tmp_path_factory.mktemp("conllu")
    FORM.write([corpus_of(*drawn)], folder / "ours.conllup")
    sentences = conllu.parse((folder / "ours.conllup").read_text("utf-8"))
    words = [[(token["form"], token["ner"]) for token in sentence] for sentence in sentences]
    assert words == own_tokens(folder / "ours.conllup")
    assert sum(len(sentence) for sentence in words) == len(drawn[0].split())
    theirs = "".join(sentence.serialize() for sentence in sentences)
    (folder / "theirs.conllup").write_text(
        f"# global.columns = ID FORM MISC NER\n{theirs}", "utf-8"
    )
    assert own_tokens(folder / "theirs.conllup") == words

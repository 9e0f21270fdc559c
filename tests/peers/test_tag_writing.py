"""What is written as CoNLL columns, read by seqeval: the same entities, in all schemes."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings

from tests.effort import tries
from tests.unit.columns.test_tag_writing import SCHEMES, corpus_of, result, tagged, written

sequence_labeling = pytest.importorskip("seqeval.metrics.sequence_labeling")
schemes = pytest.importorskip("seqeval.scheme")


def entities(sentences, scheme):
    """The entities of sequences of tags: sentence, label, first and last token."""
    found = set()
    if scheme != "default":
        read = schemes.Entities(sentences, getattr(schemes, scheme)).entities
        return {(i.sent_id, i.tag, i.start, i.end - 1) for sentence in read for i in sentence}
    for row, tags in enumerate(sentences):
        found |= {(row, *entity) for entity in sequence_labeling.get_entities(tags)}
    return found


def own_entities(path, scheme):
    """The same of our reading."""
    corpus = result(path, scheme=scheme).corpus
    tokens = corpus.tokens.select("segment_row", "start", "end").rows()
    numbers = {}
    for at, (row, start, end) in enumerate(tokens):
        number = sum(token[0] == row for token in tokens[:at])
        numbers[start] = numbers[-end] = row, number
    return {
        (numbers[start][0], label, numbers[start][1], numbers[-end][1])
        for label, start, end in corpus.mentions.select("label", "start", "end").rows()
    }


@pytest.mark.parametrize("scheme", SCHEMES)
def test_seqeval_reads_what_is_written(scheme, tmp_path_factory):
    path = tmp_path_factory.mktemp("peer") / "x.conll"
    # the default mode does not know BILOU, the strict one does not end all entities of these two
    modes = {"BILOU": ["BILOU"], "IOB1": ["default"], "IOE1": ["default"]}

    @given(tagged())
    @settings(max_examples=tries(200), deadline=None)
    def hold(drawn):
        blocks = written(corpus_of(*drawn), path, **{"to-scheme": scheme}).split("\n\n")[1:]
        lines = [block.strip("\n").split("\n") for block in blocks if block.strip("\n")]
        sentences = [[line.split("\t")[1] for line in block] for block in lines]
        expected = own_entities(path, scheme)
        assert len(expected) == len(drawn[1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for mode in modes.get(scheme, ["default", scheme]):
                # the strict mode removes hyphens around a type
                wanted = {
                    (row, label if mode == "default" else label.strip("-"), *rest)
                    for row, label, *rest in expected
                }
                assert entities(sentences, mode) == wanted, mode

    hold()

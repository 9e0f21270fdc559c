"""Tokens and tags in Parquet, as `datasets` reads and writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert, read

datasets = pytest.importorskip("datasets")
TOKENS = [["Ann", "Lee", "ran"], ["Bo", "ran"], []]
TAGS = [["B-PER", "I-PER", "O"], ["B-LOC", "O"], []]


def test_names_of_tags_are_read_from_what_we_write(tmp_path: Path) -> None:
    lines = [f"{w} {t}\n" for w, t in zip(TOKENS[0], TAGS[0], strict=True)]
    (tmp_path / "a.conll").write_text("".join(lines), "utf-8")
    out = tmp_path / "a.parquet"
    convert(
        str(tmp_path / "a.conll"), str(out), to_format="hf-tokens", settings={"layout": "parquet"}
    )
    found = datasets.Dataset.from_parquet(str(out), cache_dir=str(tmp_path / "cache"))
    names = found.features["ner_tags"].feature.names
    assert found[0]["tokens"] == TOKENS[0]
    assert [names[tag] for tag in found[0]["ner_tags"]] == TAGS[0]


def test_we_read_what_is_written(tmp_path: Path) -> None:
    names = ["O", "B-LOC", "B-PER", "I-PER"]
    label = datasets.ClassLabel(names=names)
    features = datasets.Features(
        {
            "tokens": datasets.Sequence(datasets.Value("string")),
            "ner_tags": datasets.Sequence(label),
        }
    )
    numbers = [[names.index(tag) for tag in tags] for tags in TAGS]
    made = datasets.Dataset.from_dict({"tokens": TOKENS, "ner_tags": numbers}, features=features)
    made.to_parquet(str(tmp_path / "a.parquet"))
    corpus, findings = read(str(tmp_path / "a.parquet"))
    assert list(findings) == []
    assert corpus.tokens["text"].to_list() == [word for words in TOKENS for word in words]
    assert corpus.tokens["tag"].to_list() == [tag for tags in TAGS for tag in tags]

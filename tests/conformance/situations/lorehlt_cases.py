"""The cases of LoReHLT situation frames, read by the formats."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.sources import open_source
from hlteval.tasks.situations import mentions as mentions_of


def reference(folder: Path) -> Corpus:
    """The reference of a folder."""
    return _read("lorehlt-sf-reference", folder)


def system(path: Path, schema: str = "2019-v1") -> Corpus:
    """The submission of a file, by the schema of its year."""
    return _read("lorehlt-sf-json", path, schema=schema)


def mentions(path: Path) -> pl.DataFrame:
    """The mentions of a table of entity discovery and linking."""
    table: pl.DataFrame = mentions_of(open_source(str(path)), {}).value
    return table


def _read(name: str, path: Path, **settings: str) -> Corpus:
    form = load(name)
    form = form.with_settings(settings) if settings else form
    return Corpus.concat(result.corpus for result in form.read(open_source(str(path))))

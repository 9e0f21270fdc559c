"""Converters: one module a format, each declaring a `FORMAT`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from hlteval.converters.format import Format, Located, Place, Reading, Setting, WrongSetting

BUILTIN: Mapping[str, str] = {
    "standoff": "hlteval.converters.standoff",
    "corpus": "hlteval.converters.parquet",
    "jsonl": "hlteval.converters.jsonl",
    "seedev-sentences": "hlteval.converters.seedev_sentences",
    "appen": "hlteval.converters.appen",
    "speech-sf-json": "hlteval.converters.speech_sf_json",
    "speech-sf-tsv": "hlteval.converters.speech_sf_tsv",
    "document-list": "hlteval.converters.document_list",
    "hub4": "hlteval.converters.hub4",
    "sgml-corpus": "hlteval.converters.sgml_corpus",
    "muc-listing": "hlteval.converters.muc_listing",
}
"""The formats by name, each imported where it is first used."""

__all__ = [
    "BUILTIN",
    "Format",
    "Located",
    "Place",
    "Reading",
    "Setting",
    "WrongSetting",
    "load",
]


def load(name: str) -> Format:
    """A format by its name.

    Raises:
        KeyError: if there is none of that name.

    Examples:
        >>> load("standoff").suffixes
        ('.txt', '.a1', '.a2')
    """
    form: Format = import_module(BUILTIN[name]).FORMAT
    return form

"""Converters: one module a format, each declaring a `FORMAT`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from hlteval.converters.format import Format, Located, Place, Reading, Setting, WrongSetting
from hlteval.extensions import FORMATS, extensions, resolve

BUILTIN: Mapping[str, str] = {
    "standoff": "hlteval.converters.standoff",
    "corpus": "hlteval.converters.parquet",
    "jsonl": "hlteval.converters.jsonl",
    "seedev-sentences": "hlteval.converters.seedev_sentences",
    "appen": "hlteval.converters.appen",
    "speech-sf-json": "hlteval.converters.speech_sf_json",
    "speech-sf-tsv": "hlteval.converters.speech_sf_tsv",
    "document-list": "hlteval.converters.document_list",
    "edl-tab": "hlteval.converters.edl_tab",
    "kb-tab": "hlteval.converters.kb_tab",
    "conll-coref": "hlteval.converters.conll_coref",
    "ltf": "hlteval.converters.ltf",
    "rsd": "hlteval.converters.rsd",
    "laf": "hlteval.converters.laf",
    "text": "hlteval.converters.plain_text",
    "conllu": "hlteval.converters.conllu",
    "neleval": "hlteval.converters.neleval",
    "hub4": "hlteval.converters.hub4",
    "sgml-corpus": "hlteval.converters.sgml_corpus",
    "muc-listing": "hlteval.converters.muc_listing",
    "brat": "hlteval.converters.brat",
    "bioc-xml": "hlteval.converters.bioc_xml",
    "pubannotation": "hlteval.converters.pubannotation",
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
    "known",
    "load",
]


def known() -> Mapping[str, str]:
    """The formats by name, ours and those that other packages add."""
    return {**extensions(FORMATS), **BUILTIN}


def load(name: str) -> Format:
    """A format by its name.

    Raises:
        KeyError: if there is none of that name.

    Examples:
        >>> load("standoff").suffixes
        ('.txt', '.a1', '.a2')
    """
    named = known()[name]
    form: Format = resolve(named) if ":" in named else import_module(named).FORMAT
    return form

"""Converters: one module a format, each declaring a `FORMAT`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hlteval.extensions import FORMATS, extensions, resolve

if TYPE_CHECKING:
    from hlteval.converters.format import Format, ReadResult, Setting, WrongSetting

BUILTIN: Mapping[str, str] = {
    "standoff": "hlteval.converters.standoff.bionlp",
    "corpus": "hlteval.converters.corpus.parquet",
    "jsonl": "hlteval.converters.corpus.jsonl",
    "seedev-sentences": "hlteval.converters.lists.seedev_sentences",
    "appen": "hlteval.converters.situations.appen",
    "speech-sf-json": "hlteval.converters.situations.speech_sf_json",
    "speech-sf-tsv": "hlteval.converters.situations.speech_sf_tsv",
    "document-list": "hlteval.converters.lists.document_list",
    "edl-tab": "hlteval.converters.edl.edl_tab",
    "kb-tab": "hlteval.converters.edl.kb_tab",
    "conll-coref": "hlteval.converters.edl.conll_coref",
    "ltf": "hlteval.converters.ltf.ltf",
    "rsd": "hlteval.converters.ltf.rsd",
    "laf": "hlteval.converters.ltf.laf",
    "text": "hlteval.converters.ltf.text",
    "conllu": "hlteval.converters.ltf.conllu",
    "neleval": "hlteval.converters.edl.neleval",
    "hub4": "hlteval.converters.hub4.templates",
    "sgml-corpus": "hlteval.converters.hub4.sgml_corpus",
    "muc-listing": "hlteval.converters.hub4.muc_listing",
    "brat": "hlteval.converters.standoff.brat",
    "bioc-xml": "hlteval.converters.bioc.bioc_xml",
    "pubannotation": "hlteval.converters.pubannotation.pubannotation",
}
"""The formats by name, each imported where it is first used."""

__all__ = [
    "BUILTIN",
    "Format",
    "ReadResult",
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


def __getattr__(name: str) -> Any:
    """The classes of `converters.format`, imported when used: names of formats cost nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("hlteval.converters.format"), name)

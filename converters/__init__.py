"""Converters: one module a format, each declaring a `FORMAT`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import import_module, resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hlteval.extensions import FORMATS, broken_extensions, extensions, load_extension

if TYPE_CHECKING:
    from hlteval.converters.format import Format, ReadResult, Setting, WrongSetting

#: The formats by name, each imported where it is first used.
BUILTIN: Mapping[str, str] = {
    "standoff": "hlteval.converters.standoff.bionlp",
    "corpus": "hlteval.converters.corpus.parquet",
    "jsonl": "hlteval.converters.corpus.jsonl",
    "seedev-sentences": "hlteval.converters.lists.seedev_sentences",
    "appen": "hlteval.converters.situations.appen",
    "speech-sf-json": "hlteval.converters.situations.speech_sf_json",
    "speech-sf-tsv": "hlteval.converters.situations.speech_sf_tsv",
    "lorehlt-sf-json": "hlteval.converters.situations.lorehlt.lorehlt_sf_json",
    "lorehlt-sf-reference": "hlteval.converters.situations.lorehlt.lorehlt_sf_reference",
    "lorehlt-sf-tables": "hlteval.converters.situations.lorehlt.lorehlt_sf_tables",
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
    "ccu-reference": "hlteval.converters.ccu.reference",
    "ccu-submission": "hlteval.converters.ccu.submission",
    "ccu-index": "hlteval.converters.ccu.document_index",
    "pubannotation": "hlteval.converters.pubannotation.pubannotation",
    "rttm": "hlteval.converters.timelines.rttm",
    "audacity": "hlteval.converters.timelines.audacity",
    "webvtt": "hlteval.converters.timelines.webvtt",
    "elan": "hlteval.converters.timelines.elan",
    "instances-csv": "hlteval.converters.timelines.instances_csv",
    "levels-parquet": "hlteval.converters.timelines.levels_parquet",
    "ccu-ta2": "hlteval.converters.ccu.ta2",
    "lorehlt-mt": "hlteval.converters.mt.lorehlt_mt",
    "mteval": "hlteval.converters.mt.mteval",
    "mt-text": "hlteval.converters.mt.mt_text",
    "tmx": "hlteval.converters.mt.tmx",
    "sacrebleu-tsv": "hlteval.converters.mt.sacrebleu_tsv",
}


class SettingSummary(NamedTuple):
    """A setting of a format in short.

    Attributes:
        name: as on the command line.
        help: one line for people.
        default: its default value.
        of: `read` or `write`.
        choices: the values that it can have, where these are few.
    """

    name: str
    help: str
    default: str
    of: str
    choices: list[str]

    @property
    def text(self) -> str:
        """The setting with its default and meaning, in one line."""
        return f"{self.name}={self.default}: {self.help}"


class Summary(NamedTuple):
    """A format in short, as `hlteval formats` lists it.

    Attributes:
        title: one line for people.
        reads: whether it is read.
        writes: whether it is written.
        everything: whether it represents all tables with all columns.
        tables: the tables that it represents.
        settings: what can be set.
        suffixes: of the files that hold it.
    """

    title: str
    reads: bool
    writes: bool
    everything: bool
    tables: list[str]
    settings: list[SettingSummary]
    suffixes: list[str]


__all__ = [
    "BUILTIN",
    "Format",
    "ReadResult",
    "Setting",
    "SettingSummary",
    "Summary",
    "WrongSetting",
    "known",
    "load",
    "summaries",
    "summary",
]


def known() -> Mapping[str, str]:
    """The formats by name, ours and those that other packages add."""
    return {**extensions(FORMATS), **BUILTIN}


@cache
def summaries() -> Mapping[str, Summary]:
    """What each format is, in short; reading ours from `grammars/formats.json` imports no reader.

    Examples:
        >>> summaries()["ltf"].writes
        True
    """
    file = resources.files("hlteval.grammars") / "formats.json"
    ours = {name: _loaded(own) for name, own in json.loads(file.read_text("utf-8")).items()}
    others = [name for name in extensions(FORMATS) if name not in ours]
    broken = broken_extensions(FORMATS) if others else {}
    added = {name: summary(load(name)) for name in others if name not in broken}
    return MappingProxyType({**added, **ours})


def _loaded(own: dict[str, Any]) -> Summary:
    """A summary from its JSON."""
    return Summary(**own | {"settings": [SettingSummary(**each) for each in own["settings"]]})


def summary(form: Format) -> Summary:
    """What a format is, in short."""
    settings = [
        SettingSummary(each.name, each.help, each.default, each.of, [*each.choices])
        for each in form.settings
    ]
    return Summary(
        title=form.title,
        reads=form.reads,
        writes=form.write is not None,
        everything=form.carries_all,
        tables=[*form.tables],
        settings=settings,
        suffixes=[*form.suffixes],
    )


def load(name: str) -> Format:
    """A format by its name.

    Raises:
        KeyError: if there is none of that name.
        BrokenExtension: if it is of another package, and cannot be imported.

    Examples:
        >>> load("standoff").suffixes
        ('.txt', '.a1', '.a2')
    """
    found: Any = import_module(BUILTIN[name]) if name in BUILTIN else None
    added = load_extension(FORMATS, name) if found is None else found
    form: Format = getattr(added, "FORMAT", added)
    return form


def __getattr__(name: str) -> Any:
    """The classes of `converters.format`, imported when used: names of formats cost nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("hlteval.converters.format"), name)

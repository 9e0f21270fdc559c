"""Declarations of formats: what they name is there, and what is wrong in them is refused."""

from __future__ import annotations

import inspect
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from hlteval.converters import BUILTIN, load, read_declaration
from hlteval.converters.declarations import declaration
from hlteval.converters.format import EVERYTHING, Format, Setting, single_batch
from hlteval.converters.toolkit.source_files import locate_lines, locate_nowhere
from hlteval.extensions import LazyImport, resolve
from hlteval.findings import FieldRef
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Column, Table

ROOM = Path(__file__).parents[3] / "converters"
FILES = {path: tomllib.loads(path.read_text("utf-8")) for path in ROOM.glob("*/**/*.toml")}
FUNCTIONS = ("sniff", "read", "locate", "write", "documents", "tabular", "count_losses")
SOURCE = Source("x", "folder", (Member("a.one", "a.one", 0, bytes), Member("b", "b", 0, bytes)))


def resolved(value: object) -> object:
    """The function that a field of a format is, without its arguments."""
    match value:
        case LazyImport(named=named):
            return resolve(named)
        case partial(func=function):
            return resolved(function)
    return value


def parameters(value: object) -> dict[str, object]:
    """The parameters of a function that have a default value, with that."""
    signature = inspect.signature(resolved(value))  # type: ignore[arg-type]
    named = signature.parameters.values()
    own = {each.name: each.default for each in named if each.default is not each.empty}
    taken = (
        value.keywords if isinstance(value, partial) and "settings" in signature.parameters else {}
    )
    return {**own, **taken}


def test_every_file_is_beside_a_module_or_extended() -> None:
    modules = {
        (ROOM / name.partition("converters.")[2].replace(".", "/")) for name in BUILTIN.values()
    }
    extended = {
        (path.parent / f"{name}.toml").resolve().with_suffix("")
        for path, tables in FILES.items()
        for name in tables.get("extends", ())
    }
    assert {path.with_suffix("") for path in FILES} == modules | extended


@pytest.mark.parametrize("name", BUILTIN)
def test_every_function_is_there(name: str) -> None:
    form = load(name)
    assert all(callable(resolved(getattr(form, field))) for field in FUNCTIONS if field != "write")
    assert form.write is None or callable(resolved(form.write))
    assert (form.write is None) == (not read_declaration(BUILTIN[name])["writes"])


SETTINGS = [(name, setting) for name in BUILTIN for setting in load(name).settings]


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_the_default_of_a_setting_is_that_of_its_parameter(name: str, setting: Setting) -> None:
    form = load(name)
    if setting.sets:
        assert {*setting.sets} <= {*setting.choices}
        assert all(form.with_settings(values) for values in setting.sets.values())
        return
    uses = [getattr(form, setting.of), *([form.count_losses] if setting.counts else [])]
    assert [parameters(use)[setting.name.replace("-", "_")] for use in uses] == [
        setting.default for _ in uses
    ]
    assert not setting.choices or setting.default in setting.choices


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that has nothing but a reader and a writer."""
    made = ModuleType("own.two_words")
    vars(made).update(read=iter, write=print)
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> Callable[[str], Format]:
    """Give the format of the module with declarations as they are written in its file."""

    def declare(text: str) -> Format:
        tables = tomllib.loads(f'title = "T"\nsuffixes = [".one"]\n{text}')
        monkeypatch.setattr("hlteval.extensions._file", lambda *_: tables)
        return declaration(module.__name__)

    return declare


Declare = Callable[[str], Format]


def test_what_is_not_said_has_a_default(declare: Declare) -> None:
    form = declare('[words]\nmentions = "m"\n"mentions.text" = "t"')
    assert (form.name, form.layout, form.write) == ("two-words", "single_file", print)
    assert form.carries == ("sources", "documents", "mentions", "mentions.text")
    assert (form.read, form.documents, form.locate) == (iter, single_batch, locate_lines)
    assert form.sniff(SOURCE)
    assert not form.sniff(Source("x", "folder", SOURCE.members[1:]))
    assert form.tabular(SOURCE.members[0], "") == ()


def test_the_files_of_documents_are_those_with_the_suffix(declare: Declare) -> None:
    assert [*declare('layout = "per_document"').documents(SOURCE)] == ["a"]


def test_a_module_gives_the_files_that_are_read_and_their_table(
    module: ModuleType, declare: Declare
) -> None:
    table = Table((Column("a"), Column("b")), code="C")
    vars(module).update(members=lambda source: source.members[:1], TABLE=table)
    form = declare("")
    assert form.documents(SOURCE) == {"": SOURCE.members[:1]}
    assert form.tabular(SOURCE.members[0], "") == (table,)
    (location,) = form.locate(Member("", "f", 4, lambda: b"x\tyz"), [FieldRef(1, "b")])
    assert location is not None
    assert (location.span.column, location.span.end_column) == (3, 5)


def test_a_format_that_is_not_read_finds_nothing(module: ModuleType, declare: Declare) -> None:
    del module.read
    form = declare('reads = false\ncarries = "everything"')
    assert (form.carries, form.locate) == (EVERYTHING, locate_nowhere)
    assert not form.sniff(SOURCE)
    assert [*form.read(SOURCE)] == []


def test_a_module_gives_what_is_written(
    module: ModuleType, declare: Declare, tmp_path: Path
) -> None:
    del module.write
    vars(module).update(TABLE=Table((Column("name"),)), as_rows=lambda corpus: corpus.documents)
    corpora = [Corpus(documents=[{"row": 0, "name": name}]) for name in ("a", "b")]
    form = declare("")
    assert form.write is not None
    form.write(corpora, tmp_path / "rows")
    assert (tmp_path / "rows").read_text() == "a\nb\n"
    vars(module).update(
        as_text=lambda corpus, case: map(getattr(str, case), corpus.documents["name"])
    )
    form = declare('[settings.write.case]\nhelp = "Case."\ndefault = "upper"\n')
    assert form.write is not None
    form.write(corpora, tmp_path / "text")
    assert (tmp_path / "text").read_text() == "AB"
    vars(module).update(as_files=lambda corpus: [(f"{corpus.documents['name'][0]}/x", "text")])
    form = declare("")
    assert form.write is not None
    form.write(corpora, tmp_path / "files")
    assert [(tmp_path / f"files/{name}/x").read_text() for name in "ab"] == ["text", "text"]


def test_what_is_lost_of_documents_follows_from_declarations(declare: Declare) -> None:
    form = declare(
        'odd_names = "^a"\nneeds = ["documents.text", "mentions"]\n'
        'carries = ["sources", "documents", "documents.text", "mentions"]\n'
        'lacks = { "mentions.mention" = "identifiers of mentions" }\n'
    )
    names, texts = ("a", "b", "c", "d"), ("x", None, "y", None)
    place = {"origin": 0, "record": 1, "label": "X", "start": 0, "end": 1}
    corpus = Corpus(
        documents=[
            {"row": row, "name": name, "text": text}
            for row, (name, text) in enumerate(zip(names, texts, strict=True))
        ],
        mentions=[
            {"row": row, "document": document, "mention": name, **place}
            for row, (document, name) in enumerate([(0, "T1"), (1, ""), (1, "T2"), (2, "T3")])
        ],
    )
    assert form.losses(corpus) == {
        "documents whose name no line can have": 1,
        "documents without text or mentions": 1,
        "identifiers of mentions": 2,
    }
    kept = form.supported(corpus)
    assert kept.documents["name"].to_list() == ["b", "c", "d"]
    assert kept.mentions["mention"].to_list() == ["", "T2", "T3"]


def test_a_beginning_is_looked_for_in_the_first_file_with_the_suffix(declare: Declare) -> None:
    files = [
        Member(name, name, None, text.encode) for name, text in (("a.txt", "# x"), ("b.one", "# y"))
    ]
    source = Source("x", "folder", (*files,))
    form = declare("by_suffix = true\nbeginning = '^# y'\n")
    assert form.documents(source) == {"": (files[1],)}
    assert form.sniff(source)
    assert not form.sniff(Source("x", "folder", (files[0],)))
    assert declare("beginning = '^# x'\n").sniff(source)


def test_words_without_a_place_and_functions_of_other_modules(declare: Declare) -> None:
    form = declare(
        'unwritten = ["frames.scope"]\nlocate = "builtins:list"\n'
        'sniff = {call = "builtins:dict", a = "b"}\n'
        '[words]\nframes = "f"\n"frames:R" = "r"\n"frames.scope" = "s"\n'
    )
    assert form.carries == ("sources", "documents", "frames")
    assert form.words["frames.scope"] == "s"
    assert form.locate == LazyImport("builtins:list")
    assert form.sniff(()) == {"a": "b"}  # type: ignore[arg-type, comparison-overlap]


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ('suffix = ".one"', "unknown field `suffix`"),
        ("known_losses = 3", "$.known_losses"),
        ('layout = "many"', "$.layout"),
        ("settings = {read = {x = {help = 'X.', default = '', chioces = []}}}", "`chioces`"),
        ("settings = {reads = {x = {help = 'X.', default = ''}}}", "$.settings[0].of"),
        ("words = {mentions = 3}", "$.words"),
        ("writes = false", "`writes` of own.two_words does not agree"),
    ],
)
def test_a_wrong_declaration_is_refused_with_its_place(
    declare: Declare, wrong: str, place: str
) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        declare(wrong)
    assert place in str(refused.value)

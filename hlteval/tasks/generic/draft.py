"""Declarations made from data: a task with the labels, argument types and settings that are found.

The text is commented, and has every key that people change most, so that it is ready to edit.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

import polars as pl

from hlteval.converters import Format, known
from hlteval.converters import load as load_format
from hlteval.converters.toolkit.offsets import misfits
from hlteval.converters.toolkit.quotes import are_at_place
from hlteval.findings.counts import count_of
from hlteval.representation import FACT, Corpus, fillers
from hlteval.representation.tag_schemes import TagSequence, detect
from hlteval.scoring.generic.numbers import find_numbers
from hlteval.sources import Source, open_source
from hlteval.tasks import BUILTIN, load
from hlteval.tasks.generic.declaration import presets
from hlteval.tasks.generic.task_file import BUILTIN_OF, UNITS
from hlteval.tasks.option_files import read_corpus
from hlteval.tasks.task import WrongOption

CONF = "annotation.conf"
_OFFSETS, _SCHEME = "offsets", "scheme"
#: The settings that data may show.
LIKELY = frozenset({_OFFSETS, _SCHEME})
#: Names of data that say nothing of their task.
_SIDES = frozenset({"reference", "gold", "ref", "system", "train", "dev", "test", "data"})
#: Formats of which the unit does not follow from their tables.
_UNITS: Mapping[str, str] = {"conll-coref": "clusters", "neleval": "links", "edl-tab": "links"}
#: The keys of `match` that are written if the unit has them, and examples of some.
_KEYS = ("span", "label", "singletons", "collar", "skip_overlap", "lowercase", "punctuation")
_EXAMPLES: Mapping[str, str] = {
    "collar": "0.5  # seconds in total around boundaries of the reference",
    "skip_overlap": "true  # time with several speakers is left out",
    "lowercase": "true  # letter case is ignored",
}


class Draft(NamedTuple):
    """A declaration made from data.

    Attributes:
        text: of the file.
        name: of the task.
    """

    text: str
    name: str


def draft(path: str, unit: str = "", form: str = "", folder: str = ".") -> Draft:
    """Make a declaration from data.

    Args:
        path: of annotations, such as a reference.
        unit: of the task; by default, the unit that the data have.
        form: the format of the data; by default, the format that fits.
        folder: where the declaration will be: it names an annotation.conf that is below.

    Raises:
        FileNotFoundError: if the path does not exist.
        WrongOption: if no format fits, or several do, or if the data have no such units.
    """
    source = open_source(path)
    chosen = _format(source, form, unit)
    corpus, _ = read_corpus(chosen, source)
    unit = unit or _unit(chosen, corpus)
    task = load(BUILTIN_OF.get(unit, unit))
    rows: pl.DataFrame = getattr(corpus, task.scored_table)
    if task.scored_table not in chosen.tables:
        raise WrongOption(f"{chosen.name} has no {unit}; use --unit or --from")
    own = Path(path).resolve()
    own = own.parent if own.name.partition(".")[0].lower() in _SIDES and own.parent.name else own
    name = own.name.partition(".")[0].lower() or "task"
    name = f"my-{name}" if name in BUILTIN else name
    conf = Path(path) / CONF
    below = conf.is_file() and conf.resolve().is_relative_to(Path(folder).resolve())
    numbers = find_numbers(rows["label"]) if unit == "labels" else []
    parts = [
        f"# Made from {path}: {count_of(corpus.documents.height, 'document')}, "
        f"{rows.height:,} {unit if rows.height != 1 else unit.removesuffix('s')}.",
        "# hlteval tasks --check FILE checks this file; docs/declaration.md has all keys.",
        *_about(name, unit, chosen, of_numbers=bool(numbers)),
        *("", "[read]", f'format = "{chosen.name}"'),
    ]
    for setting, value, reason in likely_settings(chosen, corpus):
        is_found_anyway = "# " if setting == _SCHEME else ""
        parts.append(f'{is_found_anyway}{setting} = "{value}"  # {reason}')
    if unit == "segments":
        parts.append('# evaluated = { format = "uem", path = "all.uem" }  # what is scored')
    relative = conf.resolve().relative_to(Path(folder).resolve()) if below else None
    if numbers:
        extent = f"[{min(numbers):g}, {max(numbers):g}]"
        parts += ["", "[labels]", 'kind = "numbers"', f"# range = {extent}  # as found"]
    else:
        parts += _labels(rows, unit, str(relative) if relative else "")
    parts += _match_table(unit, corpus, conf_is_used=below)
    primary = "pearson" if numbers else task.primary["plan"]
    parts += ["", "[scores]", f'primary = "{primary}"']
    return Draft("\n".join(parts) + "\n", name)


def likely_settings(form: Format, corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    """Find the settings of reading that data need, or that are found in each file anyway.

    Args:
        form: the format of the data.
        corpus: the data, as read without settings.

    Yields:
        The name of a setting, its value, and the reason.
    """
    settings = {setting.name for setting in form.settings if setting.of == "read"}
    if _OFFSETS in settings and corpus.mentions.height:
        shifted = misfits(corpus.documents, corpus.mentions, are_at_place(corpus))
        share = f"{shifted.explained} of {shifted.rows.height} spans need it"
        if shifted.counting:
            yield _OFFSETS, shifted.counting.setting, share
    if _SCHEME in settings and corpus.tokens["tag"].count():
        sentence = corpus.tokens["segment_row"]
        begins = sentence.ne_missing(sentence.shift(1)).to_numpy()
        tags = TagSequence.parse(corpus.tokens["tag"].fill_null("O"), begins)
        yield _SCHEME, detect(tags), "as found; without it, that of each file"


def _format(source: Source, form: str, unit: str) -> Format:
    """The format of data.

    Raises:
        WrongOption: if none or several fit.
    """
    if form:
        if form not in known():
            raise WrongOption(f"unknown format {form}; `hlteval formats` lists them")
        return load_format(form)
    units = (unit,) if unit else UNITS
    tasks = [load(name) for name in (BUILTIN_OF.get(u, u) for u in units) if name in BUILTIN]
    names = dict.fromkeys(name for task in tasks for name in (task.format, *task.submitted))
    fitting = [each for each in map(load_format, names) if each.sniff(source)]
    fitting = [each for each in fitting if not each.general] or fitting
    suffixed = [each for each in fitting if source.path.endswith(each.suffixes)]
    fitting = suffixed or fitting
    if not fitting and unit:
        return load_format(tasks[0].format)
    if not fitting:
        raise WrongOption(f"{source.path} matches no format with units; set it with --from")
    return fitting[0]


def _unit(form: Format, corpus: Corpus) -> str:
    """The unit that data have, by their format and what they hold."""
    if form.name in _UNITS:
        return _UNITS[form.name]
    if corpus.frames.height:
        return "relations" if corpus.frames["kind"].is_in(["relation", FACT]).all() else "events"
    for unit in UNITS:
        task = load(BUILTIN_OF.get(unit, unit))
        rows: pl.DataFrame = getattr(corpus, task.scored_table)
        if rows.height and form.name in {task.format, *task.submitted}:
            return unit
    return "mentions"


def _about(name: str, unit: str, form: Format, *, of_numbers: bool) -> Iterator[str]:
    """The lines of the table `task`."""
    fitting = [preset for preset, table in presets().items() if table["unit"] == unit]
    fitting = [] if of_numbers else fitting
    if form.name != "conll-columns":  # seqeval is about tags
        fitting.sort(key=lambda preset: preset == "seqeval")
    yield from ("", "[task]", f'name = "{name}"', f'title = "{unit.capitalize()} of {name}"')
    yield f'unit = "{unit}"'
    if fitting:
        more = f" (or {', '.join(fitting[1:])})" if fitting[1:] else ""
        yield f'# preset = "{fitting[0]}"  # --profile official equals this tool{more}'


def _labels(rows: pl.DataFrame, unit: str, conf: str) -> Iterator[str]:
    """The lines of the table `labels`: with the number of units of each."""
    if "label" not in rows.columns or unit in {"segments", "transcripts", "clusters"}:
        return
    counts = rows.drop_nulls("label").group_by("label").len()
    counts = counts.sort("len", "label", descending=[True, False])
    yield from ("", "[labels]")
    if conf:
        yield f"from = {_quote(conf)}"
        yield "# found:"
    else:
        yield "declared = ["
    lead = "#   " if conf else "    "
    for label, count in counts.iter_rows():
        yield f"{lead}{_quote(label)},  # {count:,}"
    if not conf:
        yield "]"
    yield '# undeclared = "error"  # or warning, ignore'
    yield "# ignore = []  # labels that are left out on both sides"


def _match_table(unit: str, corpus: Corpus, *, conf_is_used: bool) -> Iterator[str]:
    """The lines of the table `match`, and of the arguments of relations and events."""
    task = load(BUILTIN_OF.get(unit, unit))
    options = task.metric_options() if task.metric_options else None
    types = get_type_hints(type(options)) if options else {}
    keys = [f"# {key} = {_choice(options, types[key], key)}" for key in _KEYS if key in types]
    if keys:
        yield from ("", "[match]", *keys)
    if unit not in {"relations", "events"}:
        return
    arguments = _choice(options, types["arguments"], "arguments")
    yield from ("", f"[{unit}]", f"# arguments = {arguments}")
    rows = fillers(corpus, corpus).drop_nulls("filler_label")
    if conf_is_used or not rows.height:
        return
    yield from ("", f"[{unit}.roles]")
    pairs = rows.group_by("label", "role").agg(pl.col("filler_label").unique().sort())
    for (label,), own in pairs.sort("label", "role").group_by("label", maintain_order=True):
        roles = (
            f"{_key(role)} = [{', '.join(map(_quote, types))}]"
            for _, role, types in own.iter_rows()
        )
        yield f"{_key(str(label))} = {{ {', '.join(roles)} }}"


def _choice(options: Any, kind: object, key: str) -> str:
    """The default value of an option and its other values, or an example."""
    if key in _EXAMPLES:
        return _EXAMPLES[key]
    default = getattr(options, key)
    others = ", ".join(value for value in get_args(kind) if value != default)
    return f"{_quote(default)}  # or {others}"


def _quote(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    """A key as TOML writes it."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else _quote(name)

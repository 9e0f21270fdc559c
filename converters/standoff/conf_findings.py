"""Annotations of brat beside the annotation.conf of their folder: labels, arguments and values.

brat itself shows what its configuration does not declare, but does not prevent it. A folder without
an annotation.conf has that of the folder above. The names that a visual.conf gives to labels are
no labels, but show which one is meant.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import PurePosixPath

import msgspec
import polars as pl

from hlteval.converters.standoff.annotation_conf import AnnotationConf, ConfArgument, parse
from hlteval.findings import Bounded, FieldRef, Finding, Location, Problem, findings_of
from hlteval.findings.suggest import hints
from hlteval.representation import Corpus
from hlteval.sources import Member, Unreadable, decode
from hlteval.syntax.places import Places
from hlteval.syntax.tsv import shorten

CONF, VISUAL = "annotation.conf", "visual.conf"
#: The codes of problems of the file itself, which are others in a declaration of a task.
_CODES: Mapping[str, str] = {"TSK201": "ACF101", "TSK202": "ACF102"}
#: The most labels or types that a hint lists.
_SHOWN = 12
#: The most arguments of a label that are counted.
_MOST = 100
_VALUES = ("label", "role", "given", "hint")
#: A row per record that is not allowed: its place, and the offset of what says so.
_WRONG = {
    **dict.fromkeys(("origin", "record", "at"), pl.Int64),
    **dict.fromkeys(("code", "field", "id", *_VALUES), pl.String),
}
#: Gives the places of fields of a file.
Locate = Callable[[Member, Sequence[FieldRef]], list[Location | None]]


@dataclass(frozen=True)
class FolderConf:
    """The configuration of a folder.

    Attributes:
        conf: its annotation.conf.
        names: the labels by the names that its visual.conf gives them.
        known: what types stand for, as far as it was looked up.
    """

    conf: AnnotationConf
    names: Mapping[str, str]
    known: dict[tuple[str, ...], tuple[frozenset[str], str]] = field(default_factory=dict)

    def own_findings(self, most: int) -> Iterable[Finding]:
        """The findings about the annotation.conf itself, at most so many of a code explained."""
        conf, places = self.conf, Places(self.conf.text)
        listed = [*conf.problems]
        for unit in ("relations", "events"):
            listed += conf.undeclared_types(unit)
        ordered = sorted(listed, key=lambda problem: problem.start)
        return findings_of(
            ((problem.start, problem._replace(code=_CODES[problem.code])) for problem in ordered),
            lambda _, problem: places.finding(problem, conf.path),
            most,
        )

    def wrong(self, corpus: Corpus) -> pl.DataFrame:
        """The records that are not allowed, in their order; see `_WRONG`."""
        place = ("document", "origin", "record")
        mentions = corpus.mentions.select(*place, "label", id="mention")
        frames = corpus.frames.select(*place, "row", "kind", "label", id="frame")
        events, relations = (frames.filter(kind=kind) for kind in ("event", "relation"))
        values = corpus.modifiers.select(*place, "label", "target", "value", id="modifier")
        values = values.filter(pl.col("id").str.contains("^[AM]"))
        groups = corpus.groups.select(*place, label="kind", id=pl.lit("*")).unique(
            [*place, "label"], keep="first", maintain_order=True
        )
        filler = pl.concat([mentions, events.select(mentions.columns)])
        filler = filler.select("document", target="id", filler="label")
        filler = filler.unique(["document", "target"], keep="first", maintain_order=True)
        declared = {i.label for name in ("entities", "events") for i in self.conf.section(name)}
        filler = filler.filter(pl.col("filler").is_in([*declared]))  # others are reported as such
        arguments = corpus.arguments.select("frame_row", "position", "role", "target")
        filled = arguments.join(frames, left_on="frame_row", right_on="row", maintain_order="left")
        key = ["document", "target"]
        filled = filled.join(filler, on=key, how="left", maintain_order="left")
        aimed = values.join(filler, on=key, how="left", maintain_order="left")
        parts = [
            *(
                self._labels(rows, section)
                for section, rows in (
                    ("entities", mentions),
                    ("events", events),
                    ("relations", relations),
                    ("relations", groups),
                    ("attributes", values),
                )
            ),
            *self._arguments(filled.filter(kind="event"), events),
            *self._pairs(filled.filter(kind="relation")),
            *self._values(aimed),
        ]
        rows = [pl.DataFrame(schema=_WRONG)]
        rows += [part.select(pl.col(set(_WRONG) & {*part.columns})) for part in parts]
        every = pl.concat(rows, how="diagonal_relaxed").select(*_WRONG)
        return every.sort("origin", "record", maintain_order=True)

    def _labels(self, rows: pl.DataFrame, section: str) -> pl.DataFrame:
        """The records whose label no line of a section declares; triggers have those of events."""
        conf = self.conf
        sections = ("entities", "events") if section == "entities" else (section,)
        items = [i.label for name in sections for i in conf.section(name) if not i.is_heading]
        known, some = [*dict.fromkeys(items)], {*items}
        wrong = rows.filter(~pl.col("label").is_in(known))
        listed = f"use {', '.join(known[:_SHOWN])}" if known else f"[{section}] declares none"
        labels = wrong["label"].unique(maintain_order=True).to_list()
        meant = hints(labels, known, listed)
        for label in labels:
            if self.names.get(label.casefold()) in some:
                meant[label] = f"did you mean {self.names[label.casefold()]}?"
        return wrong.with_columns(
            code=pl.lit("ACF201"),
            field=pl.lit("label"),
            given="label",
            label=pl.lit(section),
            hint=pl.col("label").replace_strict(meant, default="", return_dtype=pl.String),
            at=pl.lit(conf.headings.get(section, 0), pl.Int64),
        )

    def _fillers(self, types: tuple[str, ...]) -> tuple[frozenset[str], str]:
        """The labels that types of an argument stand for, and the help about them."""
        if types not in self.known:
            labels = [*self.conf.types(types)]
            shown = f"use {' or '.join(labels[:_SHOWN])}" if labels else "declare its types"
            self.known[types] = frozenset(labels), shown
        return self.known[types]

    def _arguments(self, filled: pl.DataFrame, events: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The arguments of events that are not allowed, and events with too few or too many."""
        declared: dict[str, dict[str, list[ConfArgument]]] = {}
        lines: dict[str, int] = {}
        labels = {*events["label"]}
        for item in self.conf.section("events"):
            if item.label in labels:
                lines.setdefault(item.label, item.at)
                for argument in item.arguments:
                    roles = declared.setdefault(item.label, {})
                    roles.setdefault(argument.role, []).append(argument)
        names = []
        for label, role in filled.select("label", "role").unique().iter_rows():
            own = declared.get(label, {})
            plain = role if role in own else role.rstrip("0123456789")  # as in Theme2
            hint = "" if plain in own else f"{label} has {', '.join([*own][:_SHOWN]) or 'none'}"
            names.append((label, role, plain, hint, lines.get(label)))
        schema = {**dict.fromkeys(("label", "role", "own", "hint"), pl.String), "at": pl.Int64}
        known = filled.join(
            pl.DataFrame(names, schema=schema, orient="row"),
            on=["label", "role"],
            maintain_order="left",
        ).filter(pl.col("at").is_not_null())
        place = pl.format("role {}", "position")
        yield known.filter(pl.col("hint") != "").with_columns(code=pl.lit("ACF203"), field=place)
        known = known.filter(pl.col("hint") == "").drop("hint")
        yield self._other_fillers(known, declared)
        limits = []
        for label, roles in declared.items():
            for role, each in islice(roles.items(), _MOST):
                numbers = [a.most for a in each if a.most is not None]
                most = max(numbers) if len(numbers) == len(each) else None
                shown = self._fillers(each[0].types)[1]
                limits.append((label, role, min(a.least for a in each), most, shown, lines[label]))
        schema = {**dict.fromkeys(("label", "own"), pl.String),
                  **dict.fromkeys(("least", "most"), pl.Int64),
                  "shown": pl.String, "at": pl.Int64}  # fmt: skip
        bounds = pl.DataFrame(limits, schema=schema, orient="row")
        both = known.drop("at").join(bounds, on=["label", "own"], maintain_order="left")
        nth = pl.int_range(1, pl.len() + 1).over("frame_row", "own")
        more = both.with_columns(nth=nth).filter(pl.col("nth") == pl.col("most") + 1)
        limit = pl.format("at most {} may be there", "most")
        yield (
            more.drop("role")
            .rename({"own": "role"})
            .with_columns(code=pl.lit("ACF205"), field=place, hint=limit)
        )
        needed = bounds.filter(pl.col("least") > 0)
        wanted = events.join(needed, on="label", maintain_order="left").drop_nulls("own")
        counts = both.group_by("own", row="frame_row").agg(count=pl.len())
        wanted = wanted.join(counts, on=["row", "own"], how="left", maintain_order="left")
        fewer = wanted.filter(pl.col("count").fill_null(0) < pl.col("least"))
        code = {"code": pl.lit("ACF204"), "field": pl.lit("label")}
        yield fewer.rename({"own": "role"}).with_columns(
            **code, hint=pl.format("{} of {} needed: {}", "least", "role", "shown")
        )

    def _other_fillers(
        self, known: pl.DataFrame, declared: Mapping[str, Mapping[str, Sequence[ConfArgument]]]
    ) -> pl.DataFrame:
        """The arguments of events whose `own` role cannot be filled by what fills them."""
        triples = known.select("label", "own", "filler").drop_nulls().unique()
        wrong = []
        for label, role, filler in triples.iter_rows():
            choices = [self._fillers(argument.types) for argument in declared[label][role]]
            if not any(filler in fillers for fillers, _ in choices):
                wrong.append((label, role, filler, choices[0][1]))
        schema = dict.fromkeys(("label", "own", "filler", "hint"), pl.String)
        others = pl.DataFrame(wrong, schema=schema, orient="row")
        return _of_another_type(known.join(others, on=["label", "own", "filler"]))

    def _pairs(self, filled: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The arguments of relations that are not allowed, and symmetric relations twice.

        A label may be declared several times, each time with other types; one declaration must
        allow both arguments, in either order if it is symmetric.
        """
        symmetric = frozenset(self.conf.symmetric)
        forms: dict[str, dict[tuple[tuple[str, ...], ...], tuple[ConfArgument, ...]]] = {}
        lines: dict[str, int] = {}
        for item in self.conf.section("relations"):
            lines.setdefault(item.label, item.at)
            key = tuple(argument.types for argument in item.arguments)
            forms.setdefault(item.label, {}).setdefault(key, item.arguments)
        alike = filled.sort("frame_row", "position").group_by("frame_row", maintain_order=True)
        pattern = pl.concat_str("role", pl.lit(" "), pl.col("filler").fill_null(""))
        patterns = alike.agg(pl.col("label").first(), pattern=pattern.str.join(" "))
        wrong = []
        for label, text in patterns.select("label", "pattern").unique().iter_rows():
            words = text.split(" ")
            own = [*zip(words[::2], words[1::2], strict=True)]
            for number, code, hint in self._wrong_pair(
                own, [*forms.get(label, {}).values()], is_symmetric=label in symmetric
            ):
                wrong.append((label, text, number, code, hint, lines[label]))
        schema = {"label": pl.String, "pattern": pl.String, "position": pl.Int64,
                  "code": pl.String, "hint": pl.String, "at": pl.Int64}  # fmt: skip
        others = pl.DataFrame(wrong, schema=schema, orient="row")
        rows = filled.join(patterns.drop("label"), on="frame_row", maintain_order="left")
        found = rows.join(others, on=["label", "pattern", "position"])
        of_role = found.filter(code="ACF203")
        listed = pl.format("{} has {}", "label", "hint")
        yield of_role.with_columns(field=pl.format("role {}", "position"), hint=listed)
        yield _of_another_type(found.filter(code="ACF202"))
        some = filled.filter(pl.col("label").is_in([*symmetric]))
        place = ("document", "origin", "record", "label", "id")
        pairs = some.group_by("frame_row", maintain_order=True)
        both = pairs.agg(pl.col(*place).first(), pl.col("target").sort().str.join(" "))
        same = ["document", "label", "target"]
        both = both.with_columns(given=pl.col("id").first().over(same))
        again = both.filter(pl.struct(same).is_first_distinct().not_())
        at = pl.col("label").replace_strict(lines, default=None, return_dtype=pl.Int64)
        yield again.with_columns(code=pl.lit("ACF206"), field=pl.lit("id"), at=at)

    def _wrong_pair(
        self,
        pair: Sequence[tuple[str, str]],
        forms: Sequence[Sequence[ConfArgument]],
        *,
        is_symmetric: bool,
    ) -> Iterator[tuple[int, str, str]]:
        """Give the arguments of a relation that are not allowed: position, code and help.

        Args:
            pair: the role and the label of the filler of each, which may be empty.
            forms: the arguments that are declared, as often as they are.
            is_symmetric: whether they may be swapped.
        """
        roles = [*dict.fromkeys(argument.role for form in forms for argument in form)]
        best: list[tuple[int, str, str]] | None = None if forms else []
        for form in forms:
            types = {argument.role: argument.types for argument in form}
            swapped = dict(zip(types, reversed(types.values()), strict=True))
            for own in (types, swapped) if is_symmetric else (types,):
                wrong = []
                for number, (role, filler) in enumerate(pair, start=1):
                    fillers, shown = self._fillers(own.get(role, ()))
                    if role in own and filler and filler not in fillers:
                        wrong.append((number, "ACF202", shown))
                # the form that fits best shows which argument is wrong
                best = wrong if best is None or len(wrong) < len(best) else best
        strange = ((n, "ACF203", ", ".join(roles)) for n, (role, _) in enumerate(pair, start=1)
                   if forms and role not in roles)  # fmt: skip
        yield from strange
        yield from best or ()

    def _values(self, aimed: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The attributes of what they cannot be of, or with values that they cannot have."""
        items = {item.label: item for item in self.conf.section("attributes")}
        wrong = []
        for label, filler in aimed.select("label", "filler").drop_nulls().unique().iter_rows():
            arguments = items[label].arguments if label in items else ()
            for argument in [each for each in arguments if each.role != "Value"][:1]:
                fillers, shown = self._fillers(argument.types)
                if filler not in fillers:
                    wrong.append((label, filler, shown, items[label].at))
        schema = {**dict.fromkeys(("label", "filler", "hint"), pl.String), "at": pl.Int64}
        others = pl.DataFrame(wrong, schema=schema, orient="row")
        found = aimed.join(others, on=["label", "filler"])
        yield _of_another_type(found.with_columns(role=pl.lit("target"), position=pl.lit("")))
        pairs = []
        for label, value in aimed.select("label", "value").unique().iter_rows():
            if label not in items:
                continue
            choices = dict.fromkeys(
                value
                for each in items[label].arguments
                if each.role == "Value"
                for value in each.types
            )
            if value in choices if choices else value is None:
                continue
            usual = f"use {' or '.join([*choices][:_SHOWN])}"
            hint = usual if choices else "write it without a value"
            pairs.append((label, value, hint, items[label].at))
        schema = {**dict.fromkeys(("label", "value", "hint"), pl.String), "at": pl.Int64}
        others = pl.DataFrame(pairs, schema=schema, orient="row")
        rows = aimed.join(others, on=["label", "value"], nulls_equal=True)
        given = pl.format("the value {}", "value").fill_null("no value")
        field = pl.when(pl.col("value").is_null()).then(pl.lit("label")).otherwise(pl.lit("value"))
        yield rows.with_columns(code=pl.lit("ACF207"), field=field, given=given)


def _of_another_type(rows: pl.DataFrame) -> pl.DataFrame:
    """Arguments that are filled by what may not fill them; what is unknown is reported as such."""
    field = pl.format("target {}", "position").str.strip_chars(" ")
    known = rows.filter(pl.col("filler").is_not_null())
    return known.with_columns(code=pl.lit("ACF202"), field=field, given="filler")


def read_folders(members: Sequence[Member]) -> dict[str, FolderConf]:
    """The configuration of each folder that has an annotation.conf."""
    texts: dict[str, dict[str, tuple[str, str]]] = {CONF: {}, VISUAL: {}}
    for member in dict.fromkeys(members):
        if member.basename in texts:
            try:
                data = member.fetch()
            except Unreadable:
                continue
            read = decode(data, display=member.display, encoding=member.encoding, replace=True)
            text = (read.text or "").replace("\r\n", "\n")
            texts[member.basename][_folder(member)] = text, member.display
    return {
        folder: FolderConf(parse(text, display), label_names(texts[VISUAL].get(folder, ("",))[0]))
        for folder, (text, display) in texts[CONF].items()
    }


def with_configurations(
    documents: Mapping[str, tuple[Member, ...]], members: Sequence[Member]
) -> dict[str, tuple[Member, ...]]:
    """The files of each document, with the configurations of its folder and those above."""
    own: dict[str, list[Member]] = {}
    for member in members:
        if member.basename in {CONF, VISUAL}:
            own.setdefault(_folder(member), []).append(member)
    if not own:
        return dict(documents)
    return {
        name: (
            *files,
            *(m for up in PurePosixPath(files[0].name).parents for m in own.get(str(up), ())),
        )
        for name, files in documents.items()
    }


def _folder(member: Member) -> str:
    return str(PurePosixPath(member.name).parent)


def label_names(visual: str) -> dict[str, str]:
    r"""The labels by the names, in small letters, that the text of a visual.conf gives them.

    Examples:
        >>> label_names("[labels]\nPerson | Human being | Hum\n[drawing]\nPerson bgColor:red\n")
        {'human being': 'Person', 'hum': 'Person'}
    """
    section = re.search(r"(?m)^\[labels\][^\n]*\n([^\[]*)", visual)
    names: dict[str, str] = {}
    for line in (section[1] if section else "").split("\n"):
        label, *others = (part.strip() for part in line.split("#")[0].split("|"))
        for name in others:
            names.setdefault(name.casefold(), label)
    return names


def check(
    corpus: Corpus, members: Sequence[Member], folders: Mapping[str, FolderConf], locate: Locate
) -> Iterator[Finding]:
    """Give the findings about the records of a batch that its configurations do not allow.

    Args:
        corpus: of the batch.
        members: its files.
        folders: the configurations.
        locate: finds the places of fields.
    """
    by_folder: dict[str, list[int]] = {}
    for origin, member in enumerate(members):
        path = PurePosixPath(member.name)
        own = next((str(up) for up in path.parents if str(up) in folders), None)
        if own is not None:
            by_folder.setdefault(own, []).append(origin)
    for folder, origins in by_folder.items():
        conf = folders[folder].conf
        lines = conf.text.split("\n")
        inside = pl.col("origin").is_in(origins)
        tables = {name: getattr(corpus, name).filter(inside) for name in _TABLES}
        wrong = folders[folder].wrong(corpus.replace(**tables))
        for (origin,), rows in wrong.group_by("origin", maintain_order=True):
            member = members[int(str(origin))]
            bounded = Bounded(member.max_per_code)
            nth = pl.int_range(pl.len()).over("code")
            few = rows.filter(nth <= member.max_per_code) if member.max_per_code else rows
            refs = [FieldRef(*place) for place in few.select("record", "field").iter_rows()]
            places = dict(zip(refs, locate(member, refs), strict=True))
            explain = partial(
                _explain_row, file=member.display, conf=conf, lines=lines, places=places
            )
            for row in rows.iter_rows(named=True):
                bounded.add(row["code"], row["record"], explain, row)
            yield from bounded.findings


def _explain_row(
    record: int,
    row: Mapping[str, str],
    *,
    file: str,
    conf: AnnotationConf,
    lines: Sequence[str],
    places: Mapping[FieldRef, Location | None],
) -> Finding:
    """The finding about a row of `_WRONG`, with the line of the configuration as its clause."""
    location = places[FieldRef(record, row["field"])]
    values = {name: row[name] or "" for name in ("id", *_VALUES)}
    span, excerpt = (location.span, location.excerpt) if location else (None, None)
    problem = Problem(row["code"], record, 0, 0, values)
    finding = problem.finding(file, span, excerpt, row["id"])
    number = conf.line(int(row["at"]))
    clause = f"{conf.path}, line {number}: {shorten(lines[number - 1].strip())}"
    return msgspec.structs.replace(finding, clause=clause)


_TABLES = ("mentions", "frames", "modifiers", "groups", "arguments")

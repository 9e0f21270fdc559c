"""Rules of the annotation.conf of a folder: the records of brat that it does not allow."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice
from operator import attrgetter

import polars as pl

from hlteval.converters.standoff.annotation_conf import AnnotationConf, ConfArgument, ConfLabel
from hlteval.converters.standoff.conf_overlaps import wrong_overlaps
from hlteval.findings import Bounded, Finding, Problem
from hlteval.findings.suggest import hints
from hlteval.representation import Corpus
from hlteval.syntax.places import Places

#: The codes of problems of the file itself, which are others in a declaration of a task.
_CODES: Mapping[str, str] = {"TSK201": "ACF101", "TSK202": "ACF102"}
#: The most labels or types that a hint lists.
_LISTED = 12
#: The most arguments of a label that are counted, and declarations of it that are distinguished.
_MOST = 100
VALUES = ("label", "role", "given", "hint")
#: A row per record that is not allowed: its place, and the offset of what declares it.
_WRONG = {
    **dict.fromkeys(("origin", "record", "at"), pl.Int64),
    **dict.fromkeys(("code", "field", "id", *VALUES), pl.String),
}
#: The types of the arguments of a declaration by their roles.
Types = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class FolderConf:
    """The configuration of a folder.

    Attributes:
        conf: its annotation.conf.
        names: the labels by the names that its visual.conf gives them.
        known: the names by which arguments allow labels, as far as they were looked up.
    """

    conf: AnnotationConf
    names: Mapping[str, str]
    known: dict[str, frozenset[str]] = field(default_factory=dict)

    def own_findings(self, most: int) -> Iterable[Finding]:
        """The findings about the annotation.conf itself, at most so many of a code explained."""
        conf, places, bounded = self.conf, Places(self.conf.text), Bounded(most)

        def explain(_: int, problem: Problem) -> Finding:
            return places.finding(problem._replace(code=_CODES[problem.code]), conf.path)

        types = (conf.undeclared_types(unit) for unit in ("relations", "events"))
        for problem in merge(conf.problems, *types, key=attrgetter("start")):
            places.seek(problem.start)
            bounded.add(_CODES[problem.code], places.line, explain, problem)
        return bounded.findings

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
        declared = [*self._labels_of("entities", "events")]
        filler = filler.filter(pl.col("filler").is_in(declared))  # others are reported as such
        arguments = corpus.arguments.select("frame_row", "position", "role", "target")
        filled = arguments.join(frames, left_on="frame_row", right_on="row", maintain_order="left")
        key = ["document", "target"]
        filled = filled.join(filler, on=key, how="left", maintain_order="left")
        aimed = values.join(filler, on=key, how="left", maintain_order="left")
        entities = corpus.mentions.filter(pl.col("label").is_in([*self._labels_of("entities")]))
        entities = entities.select(*place, "label", "start", "end", "fragments", id="mention")
        parts = [
            pl.DataFrame([*wrong_overlaps(self.conf, entities)], schema_overrides=_WRONG),
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
        sections = ("entities", "events") if section == "entities" else (section,)
        known = self._labels_of(*sections)
        if self.conf.headings.keys().isdisjoint(sections):
            rows = rows.clear()
        wrong = rows.filter(~pl.col("label").is_in([*known]))
        listed = f"use {', '.join(islice(known, _LISTED))}"
        listed = listed if known else f"[{section}] declares none"
        labels = wrong["label"].unique(maintain_order=True).to_list()
        meant = hints(labels, known, listed)
        for label in labels:
            if self.names.get(label.casefold()) in known:
                meant[label] = f"did you mean {self.names[label.casefold()]}?"
        return wrong.with_columns(
            code=pl.lit("ACF201"),
            field=pl.lit("label"),
            given="label",
            label=pl.lit(section),
            hint=pl.col("label").replace_strict(meant, default="", return_dtype=pl.String),
            at=pl.lit(self.conf.headings.get(section, 0), pl.Int64),
        )

    def _labels_of(self, *sections: str) -> Mapping[str, None]:
        """The labels of sections in order, without headings."""
        items = (item for name in sections for item in self.conf.section(name))
        return dict.fromkeys(item.label for item in items if not item.is_heading)

    def _allows(self, types: Collection[str], filler: str) -> bool:
        """Whether types of an argument allow what fills it."""
        if filler not in self.known:
            self.known[filler] = self.conf.names_of(filler)
        return not self.known[filler].isdisjoint(types)

    def _help(self, types: Sequence[str]) -> str:
        """The help about the types of an argument."""
        labels = " or ".join(islice(self.conf.types(types), _LISTED))
        return f"use {labels}" if labels else "declare its types"

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
            listed = ", ".join(islice(own, _LISTED)) or "none"
            hint = "" if plain in own else f"{label} has {listed}"
            names.append((label, role, plain, hint, lines.get(label)))
        roles_of = _frame(names, "label", "role", "own", "hint", "at").drop_nulls("at")
        known = filled.join(roles_of, on=["label", "role"], maintain_order="left")
        place = pl.format("role {}", "position")
        yield known.filter(pl.col("hint") != "").with_columns(code=pl.lit("ACF203"), field=place)
        known = known.filter(pl.col("hint") == "").drop("hint")
        yield self._other_fillers(known, declared)
        limits = []
        for label, roles in declared.items():
            for role, each in islice(roles.items(), _MOST):
                numbers = [a.most for a in each if a.most is not None]
                most = max(numbers) if len(numbers) == len(each) else None
                shown = self._help(each[0].types)
                limits.append((label, role, min(a.least for a in each), most, shown, lines[label]))
        bounds = _frame(limits, "label", "own", "least", "most", "shown", "at")
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
        types = {
            (label, role): frozenset(name for argument in own for name in argument.types)
            for label, roles in declared.items()
            for role, own in roles.items()
        }
        wrong = [
            (label, role, filler, self._help(declared[label][role][0].types))
            for label, role, filler in triples.iter_rows()
            if not self._allows(types[label, role], filler)
        ]
        others = _frame(wrong, "label", "own", "filler", "hint")
        return _of_another_type(known.join(others, on=["label", "own", "filler"]))

    def _pairs(self, filled: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The arguments of relations that are not allowed, and symmetric relations twice.

        A label may be declared several times, each time with other types; one declaration must
        allow both arguments, in either order if it is symmetric.
        """
        symmetric = frozenset(self.conf.symmetric)
        forms: dict[str, list[Types]] = {}
        lines: dict[str, int] = {}
        for item in self.conf.section("relations"):
            lines.setdefault(item.label, item.at)
            own = {argument.role: argument.types for argument in item.arguments}
            forms.setdefault(item.label, []).append(own)
        forms = {label: _distinct_forms(own) for label, own in forms.items()}
        alike = filled.sort("frame_row", "position").group_by("frame_row", maintain_order=True)
        pattern = pl.concat_str("role", pl.lit(" "), pl.col("filler").fill_null(""))
        patterns = alike.agg(pl.col("label").first(), pattern=pattern.str.join(" "))
        wrong = []
        for label, text in patterns.select("label", "pattern").unique().iter_rows():
            words = text.split(" ")
            pair = [*zip(words[::2], words[1::2], strict=True)]
            for number, code, hint in self._wrong_pair(
                pair, forms.get(label, ()), is_symmetric=label in symmetric
            ):
                wrong.append((label, text, number, code, hint, lines[label]))
        others = _frame(wrong, "label", "pattern", "position", "code", "hint", "at")
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
        self, pair: Sequence[tuple[str, str]], forms: Sequence[Types], *, is_symmetric: bool
    ) -> Iterator[tuple[int, str, str]]:
        """Give the arguments of a relation that are not allowed: position, code and help.

        Args:
            pair: the role and the label of the filler of each, which may be empty.
            forms: the types of the arguments, as often as they are declared.
            is_symmetric: whether they may be swapped.
        """
        roles = dict.fromkeys(role for form in forms for role in form)
        best: list[tuple[int, tuple[str, ...]]] | None = None
        for form in forms:
            swapped = dict(zip(form, reversed(form.values()), strict=True))
            for own in (form, swapped) if is_symmetric else (form,):
                wrong = [
                    (number, own[role])
                    for number, (role, filler) in enumerate(pair, start=1)
                    if role in own and filler and not self._allows(own[role], filler)
                ]
                # the form that fits best shows which argument is wrong
                best = wrong if best is None or len(wrong) < len(best) else best
            if not best:
                break
        for number, (role, _) in enumerate(pair, start=1):
            if forms and role not in roles:
                yield number, "ACF203", ", ".join(roles)
        for number, types in best or ():
            yield number, "ACF202", self._help(types)

    def _values(self, aimed: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The attributes of what they cannot be of, or with values that they cannot have."""
        items: dict[str, list[ConfLabel]] = {}
        for item in self.conf.section("attributes"):
            items.setdefault(item.label, []).append(item)
        wrong, pairs = [], []
        targets, values = dict[str, list[str]](), dict[str, dict[str | None, None]]()
        for label, own in items.items():
            aims = [next((a.types for a in i.arguments if a.role != "Value"), None) for i in own]
            if None not in aims:  # a declaration without an argument allows any
                targets[label] = [name for types in aims for name in types or ()]
            lists = [[v for a in i.arguments if a.role == "Value" for v in a.types] for i in own]
            values[label] = dict.fromkeys(value for each in lists for value in each or (None,))
        for label, filler in aimed.select("label", "filler").drop_nulls().unique().iter_rows():
            if label in targets and not self._allows(targets[label], filler):
                wrong.append((label, filler, self._help(targets[label]), items[label][0].at))
        others = _frame(wrong, "label", "filler", "hint", "at")
        found = aimed.join(others, on=["label", "filler"])
        yield _of_another_type(found.with_columns(role=pl.lit("target"), position=pl.lit("")))
        for label, value in aimed.select("label", "value").unique().iter_rows():
            if label in items and value not in values[label]:
                listed = " or ".join(islice(filter(None, values[label]), _LISTED))
                hint = f"use {listed}" if listed else "write it without a value"
                pairs.append((label, value, hint, items[label][0].at))
        others = _frame(pairs, "label", "value", "hint", "at")
        rows = aimed.join(others, on=["label", "value"], nulls_equal=True)
        given = pl.format("the value {}", "value").fill_null("no value")
        field = pl.when(pl.col("value").is_null()).then(pl.lit("label")).otherwise(pl.lit("value"))
        yield rows.with_columns(code=pl.lit("ACF207"), field=field, given=given)


def _of_another_type(rows: pl.DataFrame) -> pl.DataFrame:
    """Arguments that are filled by what may not fill them; what is unknown is reported as such."""
    field = pl.format("target {}", "position").str.strip_chars(" ")
    known = rows.filter(pl.col("filler").is_not_null())
    return known.with_columns(code=pl.lit("ACF202"), field=field, given="filler")


def _distinct_forms(forms: Sequence[Types]) -> list[Types]:
    """The declarations of a label, each once; one with all types of a role where they are many."""
    distinct = {tuple(form.items()): form for form in forms}
    if len(distinct) <= _MOST:
        return [*distinct.values()]
    types: dict[str, dict[str, None]] = {}
    for form in distinct.values():
        for role, own in form.items():
            types.setdefault(role, {}).update(dict.fromkeys(own))
    return [{role: tuple(own) for role, own in types.items()}]


def _frame(rows: Sequence[tuple[object, ...]], *columns: str) -> pl.DataFrame:
    """Rows of texts, and of the numbers in some columns."""
    schema = {name: pl.Int64 if name in _NUMBERS else pl.String for name in columns}
    return pl.DataFrame(rows, schema=schema, orient="row")


_NUMBERS = frozenset(("at", "least", "most", "position"))

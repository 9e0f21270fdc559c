"""Annotations of brat beside the annotation.conf of their folder: labels, arguments and values.

brat itself shows what its configuration does not declare, but does not prevent it. A folder without
an annotation.conf has that of the folder above. The names that a visual.conf gives to labels are
no labels, but show which one is meant.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import msgspec
import polars as pl

from hlteval.converters.standoff.annotation_conf import AnnotationConf, parse
from hlteval.findings import FieldRef, Finding, Location, Problem
from hlteval.findings.suggest import hints
from hlteval.representation import Corpus
from hlteval.sources import Member, Unreadable, decode
from hlteval.syntax.places import Places

CONF, VISUAL = "annotation.conf", "visual.conf"
#: The codes of problems of the file itself, which are others in a declaration of a task.
_CODES: Mapping[str, str] = {"TSK201": "ACF101", "TSK202": "ACF102"}
#: The most labels or types that a hint lists.
_SHOWN = 12
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
    """

    conf: AnnotationConf
    names: Mapping[str, str]

    def own_findings(self) -> Iterator[Finding]:
        """Give the findings about the annotation.conf itself."""
        conf, places = self.conf, Places(self.conf.text)
        listed = [*conf.problems]
        for unit in ("relations", "events", "attributes"):
            listed += conf.undeclared_types(unit)
        for problem in sorted(listed, key=lambda problem: problem.start):
            yield places.finding(problem._replace(code=_CODES[problem.code]), conf.path)

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
        known = [*dict.fromkeys(items)]
        wrong = rows.filter(~pl.col("label").is_in(known))
        listed = f"use {', '.join(known[:_SHOWN])}" if known else f"[{section}] declares none"
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
            at=pl.lit(conf.headings.get(section, 0), pl.Int64),
        )

    def _argument_types(self, section: str, filled: pl.DataFrame) -> pl.DataFrame:
        """The arguments of labels in use, with the types in use that may fill each.

        Args:
            section: the section.
            filled: arguments with their `label`, and that of their `filler`.
        """
        labels, fillers = {*filled["label"]}, {*filled["filler"]}
        rows, known = [], dict[tuple[str, ...], tuple[list[str], str]]()
        for item in self.conf.section(section):
            for number, each in enumerate(item.arguments if item.label in labels else (), start=1):
                if each.types not in known:
                    types = [*self.conf.types(each.types)]
                    shown = f"use {' or '.join(types[:_SHOWN])}" if types else "declare its types"
                    known[each.types] = [name for name in types if name in fillers], shown
                own = (item.label, each.role, *known[each.types], each.least, each.most)
                rows.append((*own, item.at, number))
        schema: dict[str, pl.DataType] = dict.fromkeys(("label", "own"), pl.String())
        schema |= {"types": pl.List(pl.String()), "shown": pl.String()}
        schema |= dict.fromkeys(("least", "most", "at", "number"), pl.Int64())
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _arguments(self, filled: pl.DataFrame, events: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The arguments of events that are not allowed, and events with too few or too many."""
        some = [
            filled.select("label", "filler"),
            events.select("label", filler=pl.lit(None, pl.String)),
        ]
        declared = self._argument_types("events", pl.concat(some))
        declared = declared.group_by("label", "own", maintain_order=True).agg(
            pl.col("types").explode().unique(maintain_order=True),
            pl.col("least").min(),
            pl.col("at", "shown").first(),
            most=pl.when(~pl.col("most").is_null().any()).then(pl.col("most").max()),
        )
        names = declared.group_by("label").agg(pl.col("own").alias("roles"), pl.col("at").first())
        known = filled.join(names, on="label", maintain_order="left")
        plain = pl.col("role").str.replace("[0-9]+$", "")  # as in Theme2
        own = pl.when(pl.col("role").is_in("roles")).then("role").otherwise(plain)
        known = known.with_columns(own=own)
        role = pl.format("role {}", "position")
        listed = pl.format("{} has {}", "label", pl.col("roles").list.join(", "))
        strange = known.filter(~pl.col("own").is_in("roles"))
        yield strange.with_columns(code=pl.lit("ACF203"), field=role, hint=listed)
        both = known.join(declared.drop("at"), on=["label", "own"], maintain_order="left")
        wrong = both.filter(~pl.col("filler").is_in("types"))
        yield _of_another_type(wrong)
        nth = pl.int_range(1, pl.len() + 1).over("frame_row", "own")
        more = both.with_columns(nth=nth).filter(pl.col("nth") == pl.col("most") + 1)
        limit = pl.format("at most {} may be there", "most")
        yield more.with_columns(
            pl.col("own").alias("role"), code=pl.lit("ACF205"), field=role, hint=limit
        )
        wanted = events.join(
            declared.filter(pl.col("least") > 0), on="label", maintain_order="left"
        )
        counts = both.group_by("frame_row", "own").agg(count=pl.len())
        key = {"left_on": ["row", "own"], "right_on": ["frame_row", "own"]}
        wanted = wanted.join(counts, **key, how="left", maintain_order="left")  # type: ignore[arg-type]
        fewer = wanted.filter(pl.col("count").fill_null(0) < pl.col("least"))
        hint = pl.format("{} of {} needed: {}", "least", "own", "shown")
        yield fewer.with_columns(
            code=pl.lit("ACF204"), field=pl.lit("label"), role="own", hint=hint
        )

    def _pairs(self, filled: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The arguments of relations that are not allowed, and symmetric relations twice.

        A label may be declared several times, each time with other types; one declaration must
        allow both arguments, in either order if it is symmetric.
        """
        declared, symmetric = self._argument_types("relations", filled), [*self.conf.symmetric]
        first, second = (declared.filter(number=number) for number in (1, 2))
        key = ["label", "at"]
        names = declared.group_by("label").agg(
            roles=pl.col("own").unique(), at=pl.col("at").first()
        )
        forms = first.join(second.select(*key, other="types", shown_2="shown"), on=key)
        known = filled.join(names, on="label", maintain_order="left")
        role, listed = pl.format("role {}", "position"), pl.col("roles").list.sort().list.join(", ")
        strange = known.filter(~pl.col("role").is_in("roles"))
        hint = pl.format("{} has {}", "label", listed)
        yield strange.with_columns(code=pl.lit("ACF203"), field=role, hint=hint)
        rest = known.filter(pl.col("role").is_in("roles"), pl.col("filler").is_not_null())
        swapped = forms.filter(pl.col("label").is_in(symmetric)).with_columns(
            types="other", other="types", shown="shown_2", shown_2="shown"
        )
        forms = pl.concat([forms, swapped]).with_row_index("form")
        sides = rest.join(forms.drop("at"), on="label")
        fits = (
            pl.when(pl.col("role") == pl.col("own"))
            .then(pl.col("filler").is_in("types"))
            .otherwise(pl.col("filler").is_in("other"))
        )
        shown = pl.when(pl.col("role") == pl.col("own")).then("shown").otherwise("shown_2")
        sides = sides.with_columns(fits=fits, shown=shown)
        whole = sides.group_by("frame_row", "form").agg(pl.col("fits").sum(), size=pl.len())
        right = whole.filter(pl.col("fits") == pl.col("size"))
        # the form that fits best shows which argument is wrong
        best = whole.sort("fits", "form", descending=[True, False], maintain_order=True)
        best = best.unique("frame_row", keep="first", maintain_order=True).drop("fits", "size")
        wrong = sides.join(right, on="frame_row", how="anti").join(best, on=["frame_row", "form"])
        yield _of_another_type(wrong.filter(~pl.col("fits")).sort("frame_row", "position"))
        pairs = rest.filter(pl.col("label").is_in(symmetric)).group_by(
            "frame_row", maintain_order=True
        )
        place = ("document", "origin", "record", "label", "id", "at")
        both = pairs.agg(pl.col(*place).first(), pl.col("target").sort())
        same = ["document", "label", "target"]
        both = both.with_columns(given=pl.col("id").first().over(same))
        again = both.filter(pl.struct(same).is_first_distinct().not_())
        yield again.with_columns(code=pl.lit("ACF206"), field=pl.lit("id"))

    def _values(self, aimed: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The attributes of what they cannot be of, or with values that they cannot have."""
        declared = self._argument_types("attributes", aimed)
        targets = declared.filter(pl.col("own") != "Value").unique("label", keep="first")
        known = aimed.join(targets, on="label", maintain_order="left")
        wrong = known.filter(~pl.col("filler").is_in("types"))
        yield _of_another_type(wrong.with_columns(role=pl.lit("target"), position=pl.lit("")))
        choices = {
            item.label: [value for a in item.arguments if a.role == "Value" for value in a.types]
            for item in self.conf.section("attributes")
        }
        listed = pl.DataFrame(
            {"label": [*choices], "choices": [*choices.values()]},
            schema={"label": pl.String, "choices": pl.List(pl.String)},
        )
        known = known.join(listed, on="label", maintain_order="left")
        none = pl.col("choices").list.len() == 0
        fits = pl.col("value").is_in("choices") | (none & pl.col("value").is_null())
        usual = pl.format("use {}", pl.col("choices").list.head(_SHOWN).list.join(" or "))
        hint = pl.when(none).then(pl.lit("write it without a value")).otherwise(usual)
        rows = known.filter(~fits.fill_null(value=False))
        given = pl.format("the value {}", "value").fill_null("no value")
        field = pl.when(pl.col("value").is_null()).then(pl.lit("label")).otherwise(pl.lit("value"))
        yield rows.with_columns(code=pl.lit("ACF207"), field=field, given=given, hint=hint)


def _of_another_type(rows: pl.DataFrame) -> pl.DataFrame:
    """Arguments that are filled by what may not fill them; what is unknown is reported as such."""
    field = pl.format("target {}", "position").str.strip_chars(" ")
    known = rows.filter(pl.col("filler").is_not_null())
    return known.with_columns(code=pl.lit("ACF202"), field=field, given="filler", hint="shown")


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
            member, listed = members[int(str(origin))], rows.rows(named=True)
            refs = [FieldRef(row["record"], row["field"]) for row in listed]
            for row, location in zip(listed, locate(member, refs), strict=True):
                values = {name: row[name] or "" for name in _VALUES}
                problem = Problem(row["code"], row["record"], 0, 0, {**values, "id": row["id"]})
                span, excerpt = (location.span, location.excerpt) if location else (None, None)
                finding = problem.finding(member.display, span, excerpt, row["id"])
                number = conf.line(row["at"])
                clause = f"{conf.path}, line {number}: {lines[number - 1].strip()}"
                yield msgspec.structs.replace(finding, clause=clause)


_TABLES = ("mentions", "frames", "modifiers", "groups", "arguments")

"""Tasks as values: their options, statistics, packaging, and how people read their alignments.

A report shows each row of an alignment as two lines, the reference above the system, and marks what
differs.

A task may have no reference (`Task.scored_alone`): what its submissions are compared with is
constant. The command line and `hlteval.score` take none, and the signature has the digest of one
side.

The official software does not always reject what blocks here: `Task.official_rejects` lists it.
Where it reads records that the format rejects, `Hooks.official_reading` reads them again, from
`rejected_records`, before rules and metric; in `plan` they stay unread.

How a task's submissions are packed is a value, `Task.packaging` (`tasks/task.py`): suffixes, the
form of the name, its layout (`validators/<family>/packing.py`), and the problems of a name alone.
`pack` writes the archive, reads it again under its future name and validates that; `inspect` asks
each task.

Rules of a specification for all submissions together, such as how many are scored, are
`Task.deposited`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from hlteval.extensions import lazy

if TYPE_CHECKING:
    from polars import DataFrame

    from hlteval.converters import ReadResult
    from hlteval.findings import Finding
    from hlteval.representation import Corpus
    from hlteval.scoring.metric import Metric
    from hlteval.sources import Member, Source
    from hlteval.tasks.agreement import Agreement
    from hlteval.validators import Rule, RuleContext
    from hlteval.validators.packages import Arranged, Package
else:  # msgspec checks declarations by these annotations, but not what functions take and give
    DataFrame = ReadResult = Finding = Corpus = Metric = Member = Source = Agreement = Any
    Rule = RuleContext = Package = Arranged = Any

#: What an outcome means: both sides agree, differ, one of them has nothing, or nothing counts.
Kind = Literal["correct", "different", "missing", "extra", "unscored"]
#: The kinds of outcomes that are errors.
ERRORS: frozenset[Kind] = frozenset({"different", "missing", "extra"})


class OutcomeInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Outcome of a row.

    Attributes:
        name: as in the column `outcome`.
        kind: what it means.
        title: for people; the name if empty.
    """

    name: str
    kind: Kind
    title: str = ""


class CellInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pair of values of both sides, one above the other.

    Attributes:
        title: what it is.
        reference: the column of the reference; empty if the reference has no such thing.
        system: the column of the system; empty if the system has no such thing.
        differs: a column that says whether they differ; if empty, values are compared.
        kind: `name` for identifiers, which differ without meaning; `value`, `number`, or `words`
            for texts of which the differing words are marked. Lists are shown line by line.
    """

    title: str
    reference: str = ""
    system: str = ""
    differs: str = ""
    kind: Literal["name", "value", "number", "words"] = "value"


class FacetInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something else to filter by.

    Attributes:
        column: its column.
        title: what it is.
        single: whether rows of different values say the same again, so that one value is shown.
    """

    column: str
    title: str
    single: bool = False


class PlaceInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Columns with the locations of both sides: offsets in the text, or seconds.

    Attributes:
        reference: the columns of the start and end of the reference.
        system: those of the system.
        genre: the column with the kind of a document, `text`, `audio` or `video`; text if empty.
        inclusive: whether the end of a stretch of text is its last character.
        shown: whether places are shown beside the text.
    """

    reference: tuple[str, str] = ("reference_start", "reference_end")
    system: tuple[str, str] = ("system_start", "system_end")
    genre: str = ""
    inclusive: bool = False
    shown: bool = True


class AlignmentInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How people read the table of what was paired with what.

    Attributes:
        table: its name.
        outcomes: what can become of a row.
        cells: what both sides have.
        label: columns with the type of a row; the first that is not null counts.
        label_title: what this type is called.
        details: columns about the pair, and what they are called.
        facets: what else it is filtered by.
        places: where the two sides are, if that is known.
        items: the columns of identifiers whose arguments and places are in the evidence.
        rows: makes the rows that people read, with the column `outcome`; the table has them itself
            if there is none.
        joined: a table with more about each row, and the columns by which it is found; its others
            are shown as details.
        shows_documents: whether the beginning of a document is the context of its rows.
        reference_key: columns that tell items of the reference apart, beside those of the cells,
            places and facets; systems are compared item by item.
        system_key: the same for what only a system has, beside those that are not identifiers.
        stretches: whether rows are stretches of time, which every system divides in its own way.
    """

    table: str
    outcomes: tuple[OutcomeInfo, ...]
    cells: tuple[CellInfo, ...] = ()
    label: tuple[str, ...] = ("type",)
    label_title: str = "type"
    details: Mapping[str, str] = {}
    facets: tuple[FacetInfo, ...] = ()
    places: PlaceInfo | None = None
    items: tuple[str, str] | None = None
    rows: Callable[[DataFrame], DataFrame] | None = None
    joined: tuple[str, tuple[str, ...]] | None = None
    shows_documents: bool = False
    reference_key: tuple[str, ...] = ()
    system_key: tuple[str, ...] = ()
    stretches: bool = False

    def read(self, tables: Mapping[str, DataFrame]) -> tuple[DataFrame, dict[str, str]]:
        """Return the rows that people read, with what the joined table has, and their details.

        Args:
            tables: of the scores, with that of the alignment.
        """
        rows, details = tables[self.table], dict(self.details)
        rows = self.rows(rows) if self.rows else rows
        if self.joined and self.joined[0] in tables:
            other, key = tables[self.joined[0]], self.joined[1]
            first = other.unique(key, keep="first", maintain_order=True)
            rows = rows.join(first, on=key, how="left", maintain_order="left")
            details |= {name: name for name in other.columns if name not in key}
        return rows, details


class Deposited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number of submissions, and the files of their scores.

    Attributes:
        most: how many valid submissions of a team are scored; None for all.
        result_files: the names that the specification gives files of scores, by table.
        companions: the names of the submissions that a submission goes with, where it changes how
            these are scored; None if submissions are scored by themselves.
    """

    most: int | None = None
    result_files: Mapping[str, str] = {}
    companions: Callable[[Corpus], tuple[str, ...]] | None = None


#: Commands that have the options of another command.
_HOMES: Mapping[str, str] = {
    "pack": "validate",
    "leaderboard": "compare",
    "agreement": "compare",
    "platform": "score",
}


Command = Literal["score", "validate"]
#: The commands of options that decide how files are read.
BOTH: tuple[Command, Command] = ("score", "validate")


class WrongOption(ValueError):
    """An option has a value that it cannot have: an error of usage."""


class Option(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An option that only some tasks have, given as --name with hyphens for underscores.

    Attributes:
        name: of the option in signatures, and of the field of the metric's options.
        help: one line for people.
        called: its name for users, if it is another; `name` is still accepted from them.
        format: the format of the file that it names, if that is read as a corpus: rules find it by
            the option's name, and a reference has its texts and segments.
        choices: the values that it can have, where these are few.
        metavar: the placeholder of its value in the help.
        is_format_setting: whether it is a setting of the formats that have it.
        repeatable: whether it can be given several times; as text, the values are joined by spaces.
        short: a letter that is short for its name.
        commands: the commands that have it.
        switch: whether it takes no value: its value is then `yes`.
        reference_format: the format of the file that it names, if a submission is checked against
            that.
        kind: how the metric takes its value: as text, as a list separated by commas, or as a
            number above 0.
        read: gives the metric something else instead, from the value and all options; of a file
            a `FileValue`, from its source and all options. A file that `validate` reads too may
            be for the rules only (`Task.schema_for`).
        needs: other options that a value needs in scoring; under the empty name, those that any
            value needs.
        adds: what it adds to the report of `score` if it changes no metric: `rows` of the scores,
            `tables`, which only -o and JSON show, or `texts` around errors; `compare` has only the
            last then, for its report.
        selects_measure: whether its values are measures, of which only the one given is computed;
            the primary metric follows it.
        needs_any: by command, options and arguments of which it needs one to have an effect.
        selects_documents: whether only the documents of the corpus that it names are scored; a
            metric that has the option leaves out the others itself.
        holds_options: whether the file that it names holds options of the task, in TOML.
        selects_annotator: whether its value is the annotator whose annotation counts.
        groups_documents: whether its values say what documents of a group have in common of which
            scores are also given: `document` itself, or a column of the table of documents.
        without_documents: whether the documents of a submission have no boundaries under it.
        submission_to: the task that the file which it names is a submission to, and the option of
            that task which names the submission that is scored; it is checked as one.
        follows_seed: whether it is the seed that all commands have, unless it is given itself.
    """

    name: str
    help: str
    called: str = ""
    format: str = ""
    choices: tuple[str, ...] = ()
    metavar: str = "FILE"
    is_format_setting: bool = False
    repeatable: bool = False
    short: str = ""
    commands: tuple[Command, ...] = ("score",)
    switch: bool = False
    reference_format: str = ""
    kind: Literal["text", "list", "number"] = "text"
    read: Callable[[Any, Mapping[str, str]], object] | None = None
    needs: Mapping[str, tuple[str, ...]] = {}
    adds: Literal["", "rows", "tables", "texts"] = ""
    selects_measure: bool = False
    needs_any: Mapping[str, tuple[str, ...]] = {}
    selects_documents: bool = False
    selects_annotator: bool = False
    groups_documents: bool = False
    holds_options: bool = False
    without_documents: bool = False
    follows_seed: bool = False
    submission_to: tuple[str, str] | None = None

    @property
    def key(self) -> str:
        """The name for users in files and in Python."""
        return self.called or self.name

    @property
    def flag(self) -> str:
        """The name as on the command line."""
        return self.key.replace("_", "-")

    @property
    def old_flag(self) -> str:
        """The former name on the command line; empty if it had no other."""
        return self.name.replace("_", "-") if self.called else ""

    @property
    def placeholder(self) -> str:
        """The placeholder of its value; empty for a switch."""
        return "" if self.switch else "|".join(self.choices) or self.metavar

    @property
    def is_input(self) -> bool:
        """Whether it names files or folders that are read."""
        return self.metavar in {"FILE", "PATH"} and not (self.switch or self.choices)

    @property
    def is_file(self) -> bool:
        """Whether it names files that are read for the submission, and no options."""
        return self.is_input and not self.holds_options

    def available_in(self, command: str) -> bool:
        """Whether a command has it.

        `pack` validates what it packs, and has those of `validate`; `leaderboard` and `agreement`
        compare.
        """
        home = _HOMES.get(command, command)
        if home == "compare":
            shows_texts = command == "compare" and self.adds == "texts"
            return "score" in self.commands and (not self.adds or shows_texts)
        return home in self.commands

    def elsewhere(self, task: str, command: str) -> str:
        """Why a command of a task does not have it, and which does.

        Examples:
            >>> Option("by", "Also by type.", adds="rows").elsewhere("hub4", "compare")
            '--by belongs to `hlteval score hub4`: it changes no metric that could be compared'
        """
        only_shown = _HOMES.get(command, command) == "compare" and "score" in self.commands
        reason = ": it changes no metric that could be compared" if only_shown else ""
        homes = " and ".join(f"`hlteval {home} {task}`" for home in self.commands)
        return f"--{self.flag} belongs to {homes}{reason}"

    def lacks(self, command: str, present: Collection[str]) -> str:
        """Return the error that it has no effect without something else; empty if it has one.

        Examples:
            >>> Option("ratio", "Of it.", needs_any={"score": ("noisy",)}).lacks("score", {"ratio"})
            '--ratio has no effect without --noisy'
        """
        wanted = self.needs_any.get(_HOMES.get(command, command), ())
        if not wanted or not set(wanted).isdisjoint(present):
            return ""
        flags = " or ".join(f"--{name.replace('_', '-')}" for name in wanted)
        return f"--{self.flag} has no effect without {flags}"

    def check(self, value: str) -> None:
        """Check that the option can have a value.

        Raises:
            WrongOption: if it is not.
        """
        if self.choices and value not in self.choices:
            raise WrongOption(
                f"invalid value {value} of --{self.flag}: use {' or '.join(self.choices)}"
            )


def has_code(finding: Finding, *, codes: Collection[str]) -> bool:
    """Return whether a finding is of one of some codes."""
    return finding.code in codes


def refuses(finding: Finding, *, refused: Collection[str], passed: Collection[str] = ()) -> bool:
    """Return whether a validator refuses a submission for a finding, from codes.

    Args:
        finding: about a submission.
        refused: codes of findings for which it refuses, though they need not block.
        passed: codes of findings that block, but that it passes over.
    """
    return finding.code in refused or (finding.blocking and finding.code not in passed)


_AS_THEY_ARE = lazy("hlteval.validators.packages:as_they_are")


def _no_findings(*_: object) -> Iterator[Finding]:
    """Find nothing."""
    yield from ()


def _no_parts(_: str) -> Mapping[str, str]:
    """Divide a name into nothing."""
    return {}


def _no_codes(_: Mapping[str, str]) -> frozenset[str]:
    """Accept no findings."""
    return frozenset()


def _no_schema() -> None:
    """Need no schema."""


def _no_words(*_: object) -> str:
    """Have nothing to say."""
    return ""


class Packaging(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the submissions of a task are packed.

    Attributes:
        suffixes: of the archives, the usual one first.
        name: the form of the name of an archive, without its suffix; empty for any name.
        layout: what an archive holds, in a few words.
        parse: the parts of a name by what they are; empty for a name of another form.
        arrange: what goes into an archive of a name (without its suffix) and under which names,
            from the files that a user has.
        named: what is wrong with the name alone, whatever is inside: errors are reported of an
            archive that cannot be read, too.
        recognize: what a source has that only submissions to this task have, in a few words; the
            format of the task is looked for anyway, unless `by_format` is False.
        by_format: whether a source in the format of the task may be a submission to it.
    """

    suffixes: tuple[str, ...] = (".tgz", ".zip")
    name: str = ""
    layout: str = "the files as they are"
    parse: Callable[[str], Mapping[str, str]] = _no_parts
    arrange: Callable[[str, Source], Arranged] = _AS_THEY_ARE
    named: Callable[[Source], Iterator[Finding]] = _no_findings
    recognize: Callable[[Source], str] = _no_words
    by_format: bool = True

    def suffix(self, name: str) -> str:
        """The suffix of an archive of the task that a name ends in; empty if it has none.

        Examples:
            >>> Packaging().suffix("run-1.tgz"), Packaging().suffix("run-1.rar")
            ('.tgz', '')
        """
        lower = name.lower()
        return next((suffix for suffix in self.suffixes if lower.endswith(suffix)), "")


class Hooks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hooks of a single task: what it, or its software, does differently from all others.

    Attributes:
        primary_of: the metric that ranks with some options, where these select what is computed;
            empty where they select nothing.
        official_checks_reference: whether the official software checks a reference as it checks
            submissions, and goes on with neither.
        official_reading: what the official software reads of a reference and a submission that were
            read, where it reads records otherwise than the format says.
        reference_files: the files of a reference that are read; all if None.
        only_in_references: what a corpus has that only references may have; empty if nothing.
        option_names: the findings about names in options that neither the reference nor the
            submission has, from the options as text and the values of their files; for tasks whose
            submissions are a single file.
        alignment: the name of the table of what was paired with what.
        compared: what records are compared with, in a few words, by the format of what the
            submission is checked against (empty if nothing is) and by the options.
        accepted: codes of findings that do not block with some options.
        batch: documents in a batch: more cost memory, and save time where documents are small.
        reads_sub_folders: whether files in sub-folders of a folder are read, as in archives.
        inner_folders: names of folders that its submissions have inside.
        apart: whether some documents of a large file may be checked at a time: `all` if its rules
            find the same then, since those that look across documents have a conclusion, or
            `unique` identifiers; `valid` if they find nothing where they find nothing in all
            documents, so that only valid files are checked in parts.
    """

    primary_of: Callable[[Mapping[str, str]], str] | None = None
    official_checks_reference: bool = False
    official_reading: Callable[[ReadResult, ReadResult], tuple[ReadResult, ReadResult]] | None = (
        None
    )
    reference_files: Callable[[Source], Collection[Member]] | None = None
    only_in_references: Callable[[Corpus], str] = _no_words
    option_names: Callable[
        [RuleContext, Mapping[str, str], Mapping[str, Any]], Iterator[Finding]
    ] = _no_findings
    alignment: str = "alignment"
    compared: Callable[[str, Collection[str]], str] = _no_words
    accepted: Callable[[Mapping[str, str]], frozenset[str]] = _no_codes
    batch: int = 500
    reads_sub_folders: bool = True
    inner_folders: frozenset[str] = frozenset()
    apart: Literal["no", "valid", "all"] = "no"


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task of an evaluation.

    Attributes:
        name: as on the command line.
        title: one line for people.
        specification: the document that the profile `plan` follows.
        format: the format of the submission, and of the reference where nothing else is said.
        submitted: other formats that a submission may have.
        references: the formats that a reference may have.
        reference_optional: whether a submission can be checked without a reference.
        scored_alone: whether what a submission is compared with is the same for all, so that it is
            scored without a reference.
        submission_suffixes: suffixes of the files of a submission that are read; others come with
            the task.
        provided_suffixes: suffixes of the files that come with the task, and without which nothing
            is checked.
        rules: the rules over records.
        package: the rules over the submission as a package.
        codes: the codes of the findings of `package` and of the metric, or their prefixes.
        schema: what the task allows, for the rules.
        metric: makes the metric of a profile, with its options if there are any; None where
            submissions are only checked.
        metric_options: makes the default options of the metric, a frozen dataclass; the options of
            the task that it has as fields are converted to them.
        statistics: what its metrics say, in order.
        measures: what has each of these statistics, where that is several things.
        table_statistics: statistics that only the table `scorings` has; what it has beside these
            and those of the metrics are numbers, without decimals where they are whole.
        primary: the metric that ranks, by profile.
        options: options of `score` beyond the common ones.
        official_crashes_on: codes of findings at which the official software crashes, even when
            forced: there is then no official number.
        official_ignores: whether the official software goes on in spite of a finding that blocks.
        official_rejects: whether the official software refuses a submission for a finding; where
            this is not said, it refuses for what blocks.
        scored_table: the table without which a reference has nothing to score against.
        scored_documents: `both` if documents count that one side has, `reference` if those do not
            that only the submission has.
        submission_settings: settings of the format of a submission.
        reference_settings: settings of the format of what a submission is checked against or scored
            with; a reference that is checked by itself is read with the format's own.
        official_settings: settings of the formats in the profile `official`, where the software
            reads files in another way.
        schema_for: what the task allows, where that depends on options, and on whether a reference
            is checked.
        document_codes: codes of findings of documents that only one side has: they say nothing new
            where no document is on both sides.
        alignment_info: how people read this table, or another that says more.
        noted: codes of warnings about a submission that its scores note.
        has_index: whether a submission is a folder of tables with an index that names them.
        packaging: how its submissions are packed.
        deposited: what the specification says of the archives of an evaluation.
        agreement: what annotators agree on; None where nothing is declared.
        hooks: what the task does differently from all others.
        called: its name in signatures and for people, where that is not `name`: the name of a task
            in a file is its path.
        signed: further parts of signatures, such as the digest of the file that declares it.
        option_defaults: values of its options that are not given, as text.
    """

    name: str
    title: str
    specification: str
    format: str
    submission_suffixes: tuple[str, ...] = ()
    provided_suffixes: tuple[str, ...] = ()
    rules: Callable[[], tuple[Rule, ...]] = tuple
    package: Callable[[Package], Iterator[Finding]] = _no_findings
    codes: tuple[str, ...] = ()
    schema: Callable[[], Any] = _no_schema
    metric: Callable[..., Metric] | None = None
    metric_options: Callable[[], Any] | None = None
    statistics: tuple[StatisticInfo, ...] = ()
    measures: tuple[MeasureInfo, ...] = ()
    table_statistics: tuple[StatisticInfo, ...] = ()
    primary: Mapping[str, str] = {}
    options: tuple[Option, ...] = ()
    official_crashes_on: frozenset[str] = frozenset()
    references: tuple[str, ...] = ()
    submitted: tuple[str, ...] = ()
    reference_optional: bool = False
    scored_alone: bool = False
    official_ignores: Callable[[Finding], bool] | None = None
    scored_table: str = "frames"
    scored_documents: Literal["both", "reference"] = "both"
    official_rejects: Callable[[Finding], bool] | None = None
    submission_settings: Mapping[str, str] = {}
    reference_settings: Mapping[str, str] = {}
    official_settings: Mapping[str, str] = {}
    schema_for: Callable[[Mapping[str, str], bool], Any] | None = None
    document_codes: frozenset[str] = frozenset()
    alignment_info: AlignmentInfo | None = None
    noted: frozenset[str] = frozenset()
    has_index: bool = False
    packaging: Packaging = Packaging()
    deposited: Deposited = Deposited()
    agreement: Callable[[], Agreement] | None = None
    hooks: Hooks = Hooks()
    called: str = ""
    signed: Mapping[str, str] = {}
    option_defaults: Mapping[str, str] = {}

    @property
    def display_name(self) -> str:
        """Its name in signatures and for people."""
        return self.called or self.name

    @property
    def submitted_as_folder(self) -> bool:
        """Whether a submission is a folder of files, rather than one file.

        Examples:
            >>> from hlteval.tasks import load
            >>> [load(name).submitted_as_folder for name in ("seedev-full", "ccu-nd", "hub4")]
            [True, True, False]
        """
        return self.has_index or bool(self.submission_suffixes)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics, in order."""
        return tuple(self.metric_parts)

    @property
    def metric_parts(self) -> Mapping[str, tuple[MeasureInfo | None, StatisticInfo]]:
        """The measure and the statistic of each metric, by name."""
        if not self.measures:
            return {statistic.name: (None, statistic) for statistic in self.statistics}
        return {
            f"{measure.name}.{statistic.name}": (measure, statistic)
            for measure in self.measures
            for statistic in self.statistics
            if not measure.statistics or statistic.name in measure.statistics
        }

    def statistic(self, name: str) -> StatisticInfo | None:
        """The statistic of a metric, declared or not, or of a measure of the table `scorings`.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("lorehlt-edl").statistic("sets:is_first:span.fscore").values.kind
            'rate'
            >>> load("speech-sf").statistic("Max F1").name
            'max_f1'
            >>> load("ccu-nd").statistic("ap.101@0.5").name
            'ap'
        """
        whole = name.partition("@")[0]
        parts = whole.split(".")
        beginnings = (".".join(parts[:size]) for size in range(len(parts) - 1, 0, -1))
        last = parts[-1].lower().replace(" ", "_")
        every = (*self.statistics, *self.table_statistics)
        known = {item.name: item for item in reversed(every)}
        return next((known[one] for one in (whole, last, *beginnings) if one in known), None)

    def option_words(self, command: str, values: Mapping[str, Any]) -> list[str]:
        """Return the options that a command has, as words of a command line; empty ones are not.

        Args:
            command: name of the command.
            values: the values of options by name; of one that is repeated, a list.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("hub4").option_words("score", {"beta": "2", "unsegmented": "yes"})
            ['--unsegmented', '--beta', '2']
        """
        words: list[str] = []
        for option in self.options:
            value, flag = values.get(option.name), f"--{option.flag}"
            if value and option.available_in(command):
                items = value if isinstance(value, list | tuple) else [value]
                pairs = (word for item in items for word in (flag, str(item)))
                words += [flag] if option.switch else pairs
        return words

    def limits(self, name: str) -> tuple[float, float]:
        """The least and the most that a metric can be, declared or not.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("speech-sf").limits("type.auc"), load("hub4").limits("both.cor")
            ((0.0, 1.0), (0.0, inf))
        """
        statistic = self.statistic(name)
        return (statistic.values.least, statistic.values.most) if statistic else (-inf, inf)

    @property
    def profiles(self) -> tuple[str, ...]:
        """Its profiles; without public software to compare with there is only `plan`."""
        judged = ("plan", "official") if self.official_rejects else ("plan",)
        return tuple(self.primary) or judged

    @property
    def has_agreement(self) -> bool:
        """Whether the agreement of its annotators can be measured.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("laf").has_agreement, load("ltf").has_agreement
            (True, False)
        """
        return self.agreement is not None or (self.metric is not None and not self.scored_alone)

    def ranking(self, profile: str, options: Mapping[str, str]) -> str:
        """The metric that ranks: the primary one, of the measure that an option selects.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("hub4").ranking("plan", {"mode": "content"})
            'content.f'
        """
        selected = self.hooks.primary_of(options) if self.hooks.primary_of else ""
        primary = selected or self.primary[profile]
        only = self.only_measure(options)
        return f"{only}.{primary.rpartition('.')[2]}" if only else primary

    @property
    def computed_list(self) -> Option | None:
        """The option that lists what is computed, so that the rest takes no time; None without.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("lorehlt-mt").computed_list.name, load("hub4").computed_list
            ('metrics', None)
        """
        return next((each for each in self.options if each.key == "metric" and not each.adds), None)

    def metric_of(self, name: str) -> str:
        """The metric that a name means: that of a measure is its rate that ranks.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("coreference").metric_of("muc"), load("hub4").metric_of("both.rec")
            ('muc.f1', 'both.rec')
        """
        rate = next(iter(self.primary.values()), "").rpartition(".")[2]
        full = f"{name}.{rate}"
        return full if full in self.metrics and name not in self.metrics else name

    def beside(self, name: str, names: Iterable[str]) -> list[str]:
        """A metric, then the rates of the same measure, the most important first.

        Args:
            name: of the metric.
            names: of all metrics.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("seedev-full").beside("f1", ["precision", "matches", "f1"])
            ['f1', 'precision']
        """
        measure = name.rpartition(".")[0]
        alike = [other for other in names if other.rpartition(".")[0] == measure]
        known = {other: info for other in alike if (info := self.statistic(other))}
        rates = [other for other, info in known.items() if info.values.kind == "rate"]
        ordered = sorted(rates, key=lambda other: -known[other].weight)
        return list(dict.fromkeys([name, *ordered]))

    def only_measure(self, options: Mapping[str, str]) -> str:
        """The only measure that is computed with some options; empty if all are."""
        names = {measure.name for measure in self.measures}
        values = (options.get(option.name, "") for option in self.options if option.selects_measure)
        return next((value for value in values if value in names), "")

    def allows(self, options: Mapping[str, str], *, reference: bool = False) -> Any:
        """Return what the task allows in a submission, or in a reference, with some options."""
        return self.schema() if self.schema_for is None else self.schema_for(options, reference)

    def scorer(self, profile: str, options: Any = None) -> Metric:
        """The metric of a profile.

        Args:
            profile: `plan` or `official`.
            options: of the metric, as `metric_options` makes them; the default ones if not given.

        Raises:
            WrongOption: if there is no metric, or no such profile, or options that contradict.
        """
        self.hold_profile(profile)
        if self.metric is None:
            raise WrongOption(f"{self.name} cannot be scored: it supports validation only")
        if self.metric_options is None:
            return self.metric(profile)
        try:
            return self.metric(profile, options or self.metric_options())
        except ValueError as reason:
            raise WrongOption(str(reason)) from reason

    def hold_profile(self, profile: str) -> None:
        """Hold that there is a profile.

        Raises:
            WrongOption: if the task has no public software that it could reproduce.
        """
        if profile not in self.profiles:
            raise WrongOption(
                f"{self.name} has no public scorer and no profile {profile}; "
                f"use {' or '.join(self.profiles)}"
            )


Better = Literal["more", "less", "neither"]


class Range(NamedTuple):
    """Range of the values of a statistic.

    Attributes:
        text: its range, and its unit where it has one.
        kind: a `rate` is shown with four decimals; a `count` or another `number` without decimals
            where it is whole.
        least: the least that it can be.
        most: the most that it can be.
    """

    text: str
    kind: Literal["rate", "count", "number"] = "rate"
    least: float = -inf
    most: float = inf


RATE = Range("0 to 1", least=0.0, most=1.0)
NUMBER = Range("a number ≥ 0", "number", least=0.0)

#: How important a statistic is to readers who cannot see all: details, most, the first to read.
LOW, NORMAL, HIGH = 1, 2, 3
_IMPORTANCE: Mapping[str, int] = {"rate": HIGH, "number": NORMAL, "count": LOW}


class StatisticInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A statistic of a task: the last part of the names of its metrics.

    Attributes:
        name: of the statistic.
        meaning: what it says, for people.
        formula: how it is computed, in plain text, from other statistics or from counts that
            `meaning` names.
        values: what it can be, and with it how it is shown.
        better: which way is better, if either is.
        clause: of the specification that defines it.
        importance: `LOW`, `NORMAL` or `HIGH`: a terminal that is too narrow for all columns drops
            the least important. Where it is left out, rates are more important than numbers, and
            these than counts.
        grows: whether its mean grows with the number of documents, so that an interval is one for
            corpora of the same size (docs/intervals.md).
    """

    name: str
    meaning: str
    formula: str = ""
    values: Range = RATE
    better: Better = "more"
    clause: str = ""
    importance: int | None = None
    grows: bool = False

    @property
    def weight(self) -> int:
        """Its importance, declared or by what its values are.

        Examples:
            >>> StatisticInfo("f1", "").weight > StatisticInfo("cor", "", values=NUMBER).weight
            True
        """
        return self.importance or _IMPORTANCE[self.values.kind]


class MeasureInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that a task measures by all statistics: the first part of the names of metrics.

    Attributes:
        name: of what is measured.
        meaning: what is compared, for people.
        formula: how its counts are made, in plain text.
        clause: of the specification that defines it.
        statistics: the names of the statistics that it has; all of the task if empty.
    """

    name: str
    meaning: str
    formula: str = ""
    clause: str = ""
    statistics: tuple[str, ...] = ()

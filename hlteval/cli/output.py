"""Outputs of commands: what they print, and the files, reports and plots that they write."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

from rich.console import Group, RenderableType
from typer import BadParameter, Exit

from hlteval.cli.defaults import show_defaults
from hlteval.cli.process import usage
from hlteval.reports.terminal import Prose, note, remarks, render_text, results, warning, write
from hlteval.results.verdict import Defaults
from hlteval.sources.writing import check_name, check_outputs, resolve_path
from hlteval.tasks.task import Option

if TYPE_CHECKING:
    from hlteval.findings import Finding
    from hlteval.reports.html import Result
    from hlteval.reports.tables import View
    from hlteval.results.config import R
    from hlteval.results.scores import Scores
    from hlteval.results.verdict import FixedCopy, Refusal, Verdict

#: The output format and the path of each file.
Files = Sequence[tuple[str, Path]]
#: Gives a result in an output format.
Renderer = Callable[[str], str | RenderableType]
#: Parameters of commands that are paths of inputs.
INPUTS = frozenset(
    {"against", "annotations", "beside", "check", "example", "manifest", "names", "paths"}
    | {"reference", "settings", "sources", "system", "systems"}
)
#: Parameters of commands that are paths of outputs, beside `--output-file`; `convert`, `pack`,
#: `campaign` and `--fix` check their own.
OUTPUTS = frozenset({"output", "plot", "report"})


def check_inputs_stay(
    arguments: Mapping[str, Any], options: Iterable[Option] = (), also: Iterable[str] = ()
) -> None:
    """Check, before the work begins, that no output of a command replaces what it reads.

    Args:
        arguments: the values of the parameters of the command, by name.
        options: the options of its task, some of which name files.
        also: further paths that are read, such as the file of defaults.

    Raises:
        FileExistsError: for an output that is an input, or part of one.
    """
    names = [*INPUTS, *(option.name for option in options if option.is_input)]
    read = [*also, *(path for name in names for path in _paths(arguments.get(name)))]
    assigned = [each.partition("=")[2] for each in arguments.get("output_file") or ()]
    written = [path for name in OUTPUTS for path in _paths(arguments.get(name))]
    check_outputs([*assigned, *written], read)


def _paths(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [str(each) for each in values if each is not None]


def output_files(assignments: Sequence[str] | None, forms: Collection[str]) -> Files:
    """Return the files of `--output-file FORMAT=PATH`.

    Args:
        assignments: the values of the option.
        forms: the names of the output formats.

    Raises:
        BadParameter: for an unknown format, a file that is named twice, a folder, or a file in a
            folder that does not exist.
    """
    from hlteval.findings.suggest import did_you_mean

    seen: set[Path] = set()
    files = []
    for assignment in assignments or ():
        form, equals, name = assignment.partition("=")
        if not equals or not name or name == "-":
            reason = "use FORMAT=PATH"
        elif form not in forms:
            hint = did_you_mean(form, forms, f"use one of {', '.join(forms)}")
            reason = f"unknown format; {hint}"
        else:
            reason = next(_problems(Path(name), seen), "")
        if reason:
            raise BadParameter(f"invalid --output-file {assignment}: {reason}")
        seen.add(resolve_path(Path(name)))
        files.append((form, Path(name)))
    return files


def _problems(path: Path, seen: Collection[Path]) -> Iterator[str]:
    """Report why a file cannot be written, before the work begins."""
    target = resolve_path(path)
    if target in seen:
        yield f"{path} is named twice"
    check_name(target)
    if path.is_dir():
        yield f"{path} is a folder"
    elif os.path.lexists(target) and not target.is_file():
        yield f"{path} is neither a file nor a folder"
    if not target.parent.is_dir():
        yield f"no folder {path.parent}"


#: The path of a file or folder, and the function that creates it at a path.
Output = tuple[Path, Callable[[Path], object]]


def write_files(files: Files, render: Renderer, *others: Output) -> None:
    """Write a result to its files and other outputs: if one cannot be written, none is.

    Each takes its name, and replaces what was there, when all are complete.
    """
    from hlteval.sources import writing

    with ExitStack() as stack:
        for path, create in others:
            create(stack.enter_context(writing(path, replace=True)))
        for form, path in files:
            content = render_text(render(form))
            unfinished = stack.enter_context(writing(path, replace=True))
            unfinished.write_text(content, "utf-8", errors="backslashreplace", newline="")


def publish(render: Renderer, form: str, files: Files = (), others: Iterable[Output] = ()) -> None:
    """Print a result in an output format, after it is written to files and other outputs."""
    write_files(files, render, *others)
    write(results(), render(form))


@dataclass(frozen=True)
class Outputs:
    """The outputs of a command: what it prints, its files, its report and its plot.

    The fields up to `plot` are the options of these names.

    Attributes:
        form: the output format.
        columns: names of the columns of tables, comma-separated; None for all.
        wide: whether all columns are shown, even if they do not fit.
        output_file: files that are also written, as FORMAT=PATH.
        report: the file of a report; None for none.
        plot: the file of a plot; None for none.
        forms: the names of the output formats.
        defaults: what was taken from a file of defaults.
    """

    form: str = "text"
    columns: str | None = None
    wide: bool = False
    output_file: list[str] | None = None
    report: Path | None = None
    plot: Path | None = None
    forms: Collection[str] = ()
    defaults: Defaults | None = None

    @property
    def files(self) -> Files:
        """The output format and the path of each file."""
        parts = (assignment.partition("=") for assignment in self.output_file or ())
        return [(form, Path(name)) for form, _, name in parts]

    def check(self) -> None:
        """Check, before the work begins, that everything can be written.

        Raises:
            BadParameter: for a file that is named twice, a folder, another suffix, or a file in a
                folder that does not exist; for a plot without matplotlib.
        """
        files = output_files(self.output_file, self.forms)
        names = {resolve_path(path) for _, path in files}
        if self.report is not None and self.report.suffix.lower() not in {".html", ".htm"}:
            raise BadParameter(f"invalid --report {self.report}: the name must end in .html")
        for flag, path in (("--report", self.report), ("--plot", self.plot)):
            for reason in () if path is None else _problems(path, names):
                raise BadParameter(f"invalid {flag} {path}: {reason}")
        if self.plot is not None:
            from hlteval.reports.curves import check_plot

            with usage():
                check_plot(self.plot)

    def view(self, known: Callable[[], Iterable[str]]) -> View:
        """Return the view of the tables.

        Args:
            known: gives the names of all columns.

        Raises:
            BadParameter: if there is no such column.
        """
        from hlteval.reports.tables import UnknownColumnError, View, column_names

        try:
            return View(column_names(self.columns, known()) if self.columns else (), self.wide)
        except UnknownColumnError as error:
            raise BadParameter(str(error)) from error

    def with_defaults(self, result: R) -> R:
        """Return a result that names what was taken from a file of defaults."""
        from hlteval.results.config import with_defaults

        return with_defaults(result, self.defaults)

    def reports(self, result: Result) -> Iterator[Output]:
        """Return the report of a result as an output, if it is wanted."""
        if self.report is not None:
            from hlteval.reports.html import write as write_report

            yield self.report, partial(write_report, result)

    def publish(self, render: Renderer, result: Result, *others: Output) -> None:
        """Print a result, after it is written to files, the report and other outputs."""
        publish(render, self.form, self.files, [*others, *self.reports(result)])

    @contextmanager
    def refusals(self, command: Sequence[str] = ()) -> Iterator[None]:
        """Report why a submission was not scored, with its findings and the fix; exit code 1.

        JSON goes to standard output and to files; other formats have no place for a refusal, so
        that it is printed to standard error as text.

        Args:
            command: the command that reports all findings of the submission.
        """
        from hlteval.reports.findings import json
        from hlteval.reports.scores import refusal_summary, refusal_text
        from hlteval.workflows.run.verdicts import Refused

        try:
            yield
        except Refused as refused:
            show_defaults(self.defaults)
            refusal = refused.result(command)
            known: dict[str, Callable[[Refusal], RenderableType]]
            known = {"json": json, "text": refusal_text}
            files = [pair for pair in self.files if pair[0] in known]
            write_files(files, lambda name: known[name](refusal), *self.reports(refusal))
            if self.form == "json":
                write(results(), json(refusal))
            show = refusal_summary if self.form == "json" else refusal_text
            write(remarks(), show(refusal))
            for name, path in self.files:
                if name not in known:
                    write(remarks(), Prose(f"{path} is not written: {name} cannot show a refusal"))
            raise Exit(1) from refused


def show_verdict(
    verdict: Verdict,
    form: str,
    max_findings: int | None = None,
    files: Files = (),
    others: Iterable[Output] = (),
    copy: FixedCopy | None = None,
) -> None:
    """Print a verdict and write it to files, with a maximum of findings per file.

    Args:
        verdict: the verdict.
        form: the output format.
        max_findings: the maximum; None for the usual one of each format.
        files: the files.
        others: other outputs.
        copy: the corrected copy that the verdict is about. JSON has the corrections; beside formats
            that cannot show them they are on standard error.
    """
    from msgspec.structs import replace

    from hlteval.reports import findings
    from hlteval.reports.packages import fixes_text

    def render(name: str) -> str | RenderableType:
        if copy is not None and name == "json":
            shown = findings.with_maximum(verdict, max_findings or 0)
            return findings.json(replace(copy, verdict=shown))
        rendered = findings.render(verdict, name, max_findings)
        if copy is None or isinstance(rendered, str):
            return rendered
        return Group(fixes_text(copy), rendered)

    publish(render, form, files, others)
    if copy is not None and form not in {"text", "json"}:
        write(remarks(), fixes_text(copy))


def show_findings(findings: Sequence[Finding]) -> None:
    """Print findings to standard error, if there are any."""
    from hlteval.findings import Findings
    from hlteval.reports.findings import render
    from hlteval.results.verdict import Verdict

    if findings:
        passed = not any(finding.severity == "error" for finding in findings)
        write(remarks(), render(Verdict("", "", passed, Findings(findings))))


def check_folder(output: Path | None, main: str, what: str) -> None:
    """Check that an output folder, if any, is empty, absent or has results, which are replaced.

    Args:
        output: the folder.
        main: the file that shows that it has results.
        what: the name of the results.

    Raises:
        FileExistsError: if the folder contains any other file.
    """
    from hlteval.sources.writing import check_name

    if output:
        check_name(output)
    names = {entry.name for entry in output.iterdir()} if output and output.is_dir() else set()
    foreign = any(not name.endswith((".tsv", ".tab", ".json", ".txt")) for name in names)
    if foreign or (names and main not in names):
        raise FileExistsError(f"{output} contains files other than {what}; use another folder")


def show_scores(
    scores: Scores, outputs: Outputs, view: View, folder: Path | None = None, *, quiet: bool = False
) -> None:
    """Print scores, and write them to files and to a folder if they are wanted.

    Args:
        scores: the scores.
        outputs: what is printed and written.
        view: of the tables.
        folder: where everything is written as tables, if anywhere.
        quiet: whether only the value of the primary metric is printed, and warnings.
    """
    from hlteval.reports.scores import FORMATS, primary_value, write_tables

    tables = [] if folder is None else [(folder, partial(write_tables, scores))]

    def render(name: str) -> str | RenderableType:
        return FORMATS[name](scores, view)

    write_files(outputs.files, render, *tables, *outputs.reports(scores))
    write(results(), primary_value(scores) if quiet else render(outputs.form))
    if quiet or outputs.form != "text":  # which contains both
        for remark in (*map(warning, scores.warnings), *map(note, () if quiet else scores.notes)):
            write(remarks(), remark)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Draw names of systems in scripts that the font lacks without a word on standard error."""
    with catch_warnings():
        filterwarnings("ignore", "Glyph", UserWarning)
        yield

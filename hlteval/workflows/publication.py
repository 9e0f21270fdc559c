"""Bundles: all that a competition on a platform needs, made from a task and a reference.

A bundle of Codabench is a zip archive with `competition.yaml`, pages in Markdown that organizers
edit, and archives: the reference of each phase, the scoring program, the starting kit of
participants, and a solution. One of EvalAI has `challenge_config.yaml`, pages in HTML, and an
evaluation script that runs the same program. Equal inputs make equal bundles, byte for byte.

The scoring program has the code of hlteval itself. Its libraries come from the image, from the
network when the program starts, or, if they are wanted, from the bundle.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

import msgspec

from hlteval.converters import known, load
from hlteval.findings import REFERENCE, Finding, Findings, finding
from hlteval.reports.packages import (
    Block,
    check_commands,
    data_blocks,
    evaluation_blocks,
    html_page,
    logo,
    markdown_page,
    overview_blocks,
    terms_blocks,
    yaml_text,
)
from hlteval.results.packages import PackedArchive, Phase, Platform, Publication
from hlteval.results.scores import LIMITS
from hlteval.results.verdict import Verdict
from hlteval.sources import Listed, open_source, writing
from hlteval.sources.writing import check_outputs, file_sha256
from hlteval.tasks import is_file
from hlteval.tasks import load as load_task
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.evaluation.competitions import (
    OPEN,
    Settings,
    options_of,
    read_settings,
    reference_of,
    utc,
    with_manifest,
)
from hlteval.workflows.evaluation.manifests import read_manifest
from hlteval.workflows.platforms import (
    Files,
    below,
    column_keys,
    default_columns,
    files_of,
    flat_scores,
    program_files,
    task_files,
    zip_files,
)
from hlteval.workflows.run import engine
from hlteval.workflows.run.batches import NothingGiven
from hlteval.workflows.run.request import Request
from hlteval.workflows.run.verdicts import Refused


@dataclass(frozen=True)
class Plan:
    """Content of a bundle.

    Attributes:
        request: the task, its options, the profile and the reference.
        publication: the settings.
        platform: what it is made for.
        vendor: whether the scoring program has its libraries.
        settings: the file of the settings, in whose folder paths of references are.
        manifest: the path of the manifest of an evaluation; empty for none.
    """

    request: Request
    publication: Publication
    platform: Platform
    vendor: bool = False
    settings: Settings = field(default_factory=lambda: Settings("", content={}))
    manifest: str = ""

    @property
    def task(self) -> Task:
        """The task."""
        return self.request.definition

    @property
    def phases(self) -> Sequence[Phase]:
        """The phases, with dates in UTC and paths of references as this process opens them."""
        given = self.publication.phases or (OPEN,)
        return [
            msgspec.structs.replace(
                phase,
                start=utc(phase.start),
                end=utc(phase.end) if phase.end else "",
                reference=self.settings.path_of(phase.reference)
                if phase.reference
                else self.request.reference,
            )
            for phase in given
        ]

    @property
    def references(self) -> Sequence[str]:
        """The references of all phases, each once; one without a path for a task that has none."""
        return list(dict.fromkeys(phase.reference for phase in self.phases))

    @property
    def image(self) -> str:
        """The image in which the scoring program runs."""
        return self.publication.image or "python:{}.{}".format(*sys.version_info)

    @property
    def columns(self) -> Mapping[str, str]:
        """The keys of the columns of metrics."""
        names = self.publication.metrics or default_columns(self.request)
        return column_keys(names)


def make_plan(
    task: str,
    reference: str,
    platform: Platform,
    settings: str | None,
    given: Mapping[str, str | None],
    options: Mapping[str, str],
    *,
    manifest: str | None = None,
    vendor: bool = False,
) -> tuple[Plan | None, tuple[Finding, ...]]:
    """Make the plan of a bundle: of a manifest, the settings of a file, and those that are given.

    Args:
        task: name of the task.
        reference: its reference; empty for a task that has none.
        platform: what the bundle is made for.
        settings: the file; None for none.
        given: settings that override those of the file, by name.
        options: options of the task, likewise.
        manifest: that of an evaluation, for what neither the file nor `given` says; None for none.
        vendor: whether the scoring program has its libraries.

    Returns:
        The plan, None if the settings or the manifest have errors; and their findings.

    Raises:
        FileNotFoundError: if the file does not exist.
        WrongOption: if the task needs a reference, or has none, or if the manifest is not for it.
    """
    read, declared = read_settings(settings), load_task(task)
    if declared.metric is None:
        raise WrongOption(f"{task} cannot be scored: it supports validation only")
    findings = (*read.findings, *(read.check(declared) if read.content is not None else ()))
    evaluation = None if manifest is None else read_manifest(manifest)
    findings += () if evaluation is None else evaluation.check()
    if any(each.severity == "error" for each in findings):
        return None, findings
    publication = read.publication
    if evaluation is not None:
        publication = with_manifest(read, evaluation, declared, reference, given.get("documents"))
        reference = reference or reference_of(evaluation, declared)
        options = {**options_of(evaluation, declared), **read.values(declared), **options}
    publication = msgspec.structs.replace(
        publication, **{name: value for name, value in given.items() if value}
    )
    own = [phase.reference for phase in publication.phases]
    if reference and declared.scored_alone:
        raise WrongOption(f"{task} has no reference; leave out -r")
    if not reference and not declared.scored_alone:
        if not own or "" in own:
            raise WrongOption(f"{task} needs a reference; add -r PATH")
        reference = read.path_of(own[0])
    for path in filter(None, (reference, publication.example, publication.documents)):
        if path == "-":
            raise WrongOption("a bundle is made of files: use paths instead of -")
        open_source(path)
    merged = {**read.values(declared), **options}
    request = Request(task, "", reference, profile=publication.profile, options=merged)
    return Plan(request, publication, platform, vendor, read, manifest or ""), findings


def publish(plan: Plan, target: str, *, force: bool = False) -> PackedArchive:
    """Write the bundle of a competition.

    Args:
        plan: what it is made from.
        target: the archive.
        force: whether an existing archive is replaced.

    Raises:
        FileExistsError: if the archive exists, unless `force` is set.
        Refused: if a reference has blocking findings, or the example is not scored.
        WrongOption: if something cannot be in a bundle.
    """
    task, path = plan.task, Path(target if target.endswith(".zip") else f"{target}.zip")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists; use --force to replace it")
    publication = plan.publication
    read = [*plan.references, publication.example, publication.documents]
    read += [plan.settings.path, plan.manifest]
    read += [str(plan.request.options.get(o.name) or "") for o in task.options if o.is_input]
    check_outputs([path], filter(None, read))
    check_references(plan)
    findings, solution = example_of(plan)
    made = codabench_files if plan.platform == "codabench" else evalai_files
    files = made(plan, solution)
    verdict = Verdict(task.name, publication.profile, passed=True, findings=Findings(findings))
    with writing(path) as unfinished:
        unfinished.write_bytes(zip_files(files))
        size, digest = unfinished.stat().st_size, file_sha256(unfinished)
    members = tuple(Listed(name, "file", len(data)) for name, data in sorted(files.items()))
    return PackedArchive(path=str(path), verdict=verdict, size=size, sha256=digest, members=members)


def check_references(plan: Plan) -> None:
    """Check the reference of each phase: with a wrong one, no submission would be scored.

    Raises:
        Refused: if one has blocking findings.
    """
    for reference in filter(None, plan.references):
        request = replace(plan.request, system=reference, reference="", role=REFERENCE)
        verdict = engine.validate(request)
        if any(each.blocking for each in verdict.findings):
            reason = f"nothing was written because of blocking findings in {reference}"
            raise Refused(verdict, reason, "correct the reference, and publish again")


def example_of(plan: Plan) -> tuple[list[Finding], Files]:
    """The submission that is scored to check the bundle, with what is to be said about it.

    Without an example it is the reference itself, if that can be submitted; it is in the solution,
    which only organizers see.

    Raises:
        Refused: if the example is not scored.
        WrongOption: if a metric of a column is not computed.
    """
    task, example = plan.task, plan.publication.example
    if example:
        scores = engine.score(replace(plan.request, system=example))
        flat_scores(scores, list(plan.columns))
        return [], files_of(open_source(example))
    reference = open_source(plan.request.reference) if plan.request.reference else None
    if reference is not None:
        files = files_of(reference, task.submission_suffixes)
        try:
            engine.score(replace(plan.request, system=plan.request.reference))
        except (NothingGiven, Refused, WrongOption):
            files = {}
        if files:
            return [finding("BDL111", task=task.display_name)], files
    return [finding("BDL112", task=task.display_name)], {}


def codabench_files(plan: Plan, solution: Files) -> Files:
    """The files of a bundle of Codabench."""
    publication, task, phases = plan.publication, plan.task, plan.phases
    pages = {
        "overview": overview_blocks(publication, task, phases),
        "evaluation": evaluation_blocks(publication, task, plan.columns),
        "data": data_blocks(task, examples_of_formats(task)),
        "terms": terms_blocks(publication),
    }
    files = {f"pages/{name}.md": markdown_page(page).encode() for name, page in pages.items()}
    files["logo.png"] = logo(publication.title or task.title)
    command = "python3 /app/program/score.py /app/input /app/output"
    program = {
        **program_files(plan.request, publication, plan.columns, plan.image if plan.vendor else ""),
        "metadata.yaml": yaml_text({"command": command}).encode(),
    }
    files["scoring_program.zip"] = zip_files(program)
    for number, reference in enumerate(plan.references, 1):
        data = files_of(open_source(reference)) if reference else {"README.md": b"No reference.\n"}
        files[f"reference_data_{number}.zip"] = zip_files(data)
    files["starting_kit.zip"] = zip_files(starting_kit(plan))
    if solution:
        files["solution.zip"] = zip_files(solution)
    files["competition.yaml"] = yaml_text(codabench_configuration(plan, bool(solution))).encode()
    return files


def codabench_configuration(plan: Plan, has_solution: bool) -> dict[str, object]:
    """The configuration of a bundle of Codabench, as its YAML has it."""
    publication, task, references = plan.publication, plan.task, plan.references
    title = publication.title or task.title
    phases: list[dict[str, object]] = []
    for index, phase in enumerate(plan.phases):
        dates = {"start": phase.start, **({"end": phase.end} if phase.end else {})}
        phases.append(
            {
                "index": index,
                "name": phase.name,
                "description": phase.description or phase.name,
                **dates,
                "tasks": [references.index(phase.reference)],
                "max_submissions": phase.submissions,
                "max_submissions_per_day": phase.submissions_per_day,
                "execution_time_limit": phase.time_limit,
                "starting_kit": "starting_kit.zip",
            }
        )
    board = {"title": "Results", "key": "results", "submission_rule": "Force_Best"}
    names = {phase.reference: f"{title} ({phase.name})" for phase in reversed(plan.phases)}
    every = [*range(len(references))]
    return {
        "version": 2,
        "title": title[:256],
        "description": publication.description or task.title,
        "image": "logo.png",
        "docker_image": plan.image,
        "registration_auto_approve": False,
        "enable_detailed_results": True,
        "show_detailed_results_in_leaderboard": False,
        "make_programs_available": False,
        **({"contact_email": publication.contact} if publication.contact else {}),
        "terms": "pages/terms.md",
        "pages": [
            {"title": name.capitalize(), "file": f"pages/{name}.md"}
            for name in ("overview", "evaluation", "data")
        ],
        "tasks": [
            {
                "index": index,
                "name": names[references[index]][:256],
                "description": task.title,
                "scoring_program": "scoring_program.zip",
                "reference_data": f"reference_data_{index + 1}.zip",
            }
            for index in every
        ],
        **(
            {"solutions": [{"index": 0, "path": "solution.zip", "tasks": every}]}
            if has_solution
            else {}
        ),
        "phases": phases,
        "leaderboards": [{**board, "columns": codabench_columns(plan)}],
    }


def codabench_columns(plan: Plan) -> list[dict[str, object]]:
    """The columns of the leaderboard of Codabench, with those of the limits of intervals."""
    publication, columns = plan.publication, list[dict[str, object]]()
    for name, key in plan.columns.items():
        info = plan.task.statistic(name)
        sorting = "asc" if info and info.better == "less" else "desc"
        for end in ("", *(LIMITS if publication.intervals else ())):
            column = {"index": len(columns), "title": (name if len(name) < 32 else key) + end}
            column |= {"key": key + end, "sorting": sorting, "precision": publication.precision}
            columns.append(column)
    return columns


def evalai_files(plan: Plan, solution: Files) -> Files:
    """The files of a bundle of EvalAI, with a starting kit and an example, which it passes over."""
    publication, task, phases = plan.publication, plan.task, plan.phases
    pages = {
        "description": overview_blocks(publication, task, phases),
        "evaluation_details": evaluation_blocks(publication, task, plan.columns),
        "submission_guidelines": data_blocks(task, examples_of_formats(task)),
        "terms_and_conditions": terms_blocks(publication),
    }
    for number, phase in enumerate(phases, 1):
        pages[f"phase_{number}"] = [Block("paragraph", phase.description or phase.name)]
    files = {f"templates/{name}.html": html_page(page).encode() for name, page in pages.items()}
    files["logo.png"] = logo(publication.title or task.title)
    splits = {f"phase{number}": f"split{number}" for number in range(1, len(phases) + 1)}
    program = program_files(
        plan.request, publication, plan.columns, plan.image if plan.vendor else ""
    )
    marked = [
        f'{pin}; python_version >= "3.11"\n' for pin in program["requirements.txt"].decode().split()
    ]
    program["requirements.txt"] = "".join(marked).encode()
    program["main.py"] = _EVALUATE.replace("{SPLITS}", repr(splits)).encode()
    program["__init__.py"] = b"from .main import evaluate\n"
    files["evaluation_script.zip"] = zip_files(program)
    for number, phase in enumerate(phases, 1):
        data = files_of(open_source(phase.reference)) if phase.reference else {"README.md": b"-\n"}
        files[f"annotations/phase{number}.zip"] = zip_files(data)
    files["starting_kit.zip"] = zip_files(starting_kit(plan))
    if solution:
        files["example.zip"] = zip_files(solution)
    files["challenge_config.yaml"] = yaml_text(evalai_configuration(plan)).encode()
    return files


#: The end of a challenge without one, which EvalAI needs.
_ENDLESS = "2099-12-31 23:59:59"


def evalai_configuration(plan: Plan) -> dict[str, object]:
    """The configuration of a bundle of EvalAI, as its YAML has it."""
    publication, task, phases = plan.publication, plan.task, plan.phases
    title = publication.title or task.title
    ends = ("", *(LIMITS if publication.intervals else ()))
    infos = {name: task.statistic(name) for name in plan.columns}
    ascending = {name: info is not None and info.better == "less" for name, info in infos.items()}
    labels = {key + end: ascending[name] for name, key in plan.columns.items() for end in ends}
    first = next(iter(labels))
    metadata = {label: {"sort_ascending": up, "description": label} for label, up in labels.items()}
    order = {"default_order_by": first, "metadata": metadata}
    numbers = range(1, len(phases) + 1)
    return {
        "title": title[:100],
        "short_description": (publication.description or task.title)[:140],
        "description": "templates/description.html",
        "evaluation_details": "templates/evaluation_details.html",
        "terms_and_conditions": "templates/terms_and_conditions.html",
        "submission_guidelines": "templates/submission_guidelines.html",
        "image": "logo.png",
        "evaluation_script": "evaluation_script.zip",
        "remote_evaluation": False,
        "start_date": phases[0].start,
        "end_date": phases[-1].end or _ENDLESS,
        "published": False,
        "leaderboard": [{"id": 1, "schema": {"labels": list(labels), **order}}],
        "challenge_phases": [
            {
                "id": number,
                "name": phase.name[:100],
                "description": f"templates/phase_{number}.html",
                "leaderboard_public": True,
                "is_public": True,
                "start_date": phase.start,
                "end_date": phase.end or _ENDLESS,
                "test_annotation_file": f"annotations/phase{number}.zip",
                "codename": f"phase{number}",
                "max_submissions_per_day": phase.submissions_per_day,
                "max_submissions": phase.submissions,
                "allowed_submission_file_types": ".zip",
            }
            for number, phase in enumerate(phases, 1)
        ],
        "dataset_splits": [
            {"id": number, "name": f"{phase.name[:90]} data", "codename": f"split{number}"}
            for number, phase in enumerate(phases, 1)
        ],
        "challenge_phase_splits": [
            {
                "challenge_phase_id": number,
                "leaderboard_id": 1,
                "dataset_split_id": number,
                "visibility": 3,
                "leaderboard_decimal_precision": publication.precision,
                "is_leaderboard_order_descending": not labels[first],
            }
            for number in numbers
        ],
    }


_EVALUATE = '''\
"""Evaluate a submission, as EvalAI calls it: score.py runs with Python 3.11 or later."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

SPLITS = {SPLITS}
HERE = os.path.dirname(os.path.abspath(__file__))


def find_python():
    """Return a Python that hlteval runs on: this one, or another of the worker."""
    if sys.version_info >= (3, 11):
        return sys.executable
    names = ["python3.%d" % minor for minor in (13, 12, 11)]
    found = next((shutil.which(name) for name in names if shutil.which(name)), None)
    if found is None:
        raise RuntimeError("the worker has no Python 3.11 or later, which scoring needs")
    return found


def place(path, folder):
    """Put a file into a folder; an archive is unpacked."""
    os.makedirs(folder)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
    else:
        shutil.copy(path, folder)


def evaluate(test_annotation_file, user_submission_file, phase_codename, **kwargs):
    """Return the scores of a submission; an exception has the reasons why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        given, output = os.path.join(folder, "input"), os.path.join(folder, "output")
        place(test_annotation_file, os.path.join(given, "ref"))
        place(user_submission_file, os.path.join(given, "res"))
        command = [find_python(), os.path.join(HERE, "score.py"), given, output]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        run = subprocess.Popen(command, universal_newlines=True, **streams)
        log, errors = run.communicate()
        if run.returncode:
            raise RuntimeError(errors.strip() or "status %d" % run.returncode)
        with open(os.path.join(output, "scores.json")) as file:
            scores = json.load(file)
    print(log)
    return {"result": [{SPLITS[phase_codename]: scores}], "submission_result": scores}
'''


def examples_of_formats(task: Task) -> dict[str, tuple[str, str]]:
    """The titles and example lines of the formats of submissions, by name."""
    forms = {}
    for name in (task.format, *task.submitted):
        doc = import_module(known()[name].partition(":")[0]).__doc__ or ""
        _, _, lines = doc.partition("Example lines:\n")
        kept = [line[4:] for line in lines.partition("\n\n")[0].splitlines()]
        forms[name] = (load(name).title, "\n".join(kept))
    return forms


def starting_kit(plan: Plan) -> Files:
    """The files that participants get: what to do, the documents, an example, and the task."""
    publication, task = plan.publication, plan.task
    files = below("task", task_files(task))
    if publication.documents:
        files |= below("documents", files_of(open_source(publication.documents)))
    elif task.provided_suffixes and plan.request.reference:
        given = files_of(open_source(plan.request.reference), task.provided_suffixes)
        files |= below("documents", given)
    if publication.example:
        files |= below("example", files_of(open_source(publication.example)))
    folders = {name.partition("/")[0] for name in files}
    command = check_commands(task, "documents" if "documents" in folders else "DOCUMENTS")
    if is_file(task.name):
        command = command.replace(f" {Path(task.name).name} ", f" task/{Path(task.name).name} ")
    texts = {"example": "`example` has a submission.", "documents": "`documents` has the texts."}
    parts = [
        Block("heading", f"Starting kit: {publication.title or task.title}"),
        *(Block("paragraph", text) for name, text in texts.items() if name in folders),
        Block("paragraph", "Check your submission before you upload it:"),
        Block("code", command.replace("SUBMISSION", "example" if publication.example else "MINE")),
        Block("paragraph", "Then pack its files, without a folder around them, as a zip archive."),
    ]
    return {**files, "README.md": markdown_page(parts).encode()}

"""Commands of files: `convert`, `inspect`, `publish` and `verify`."""

from collections.abc import Mapping
from typing import Any, Literal, NoReturn

from typer import BadParameter, Context, Exit
from typer.main import get_group

from hlteval.cli.commands import Form, TaskCommand, check_task, task_app
from hlteval.cli.defaults import config_of_call, not_given, path_of_task, show_defaults
from hlteval.cli.process import usage
from hlteval.results.verdict import Defaults
from hlteval.workflows.run.request import Request


def convert(
    context: Context,
    sources: list[str],
    target: str,
    from_format: list[str] | None = None,
    to_format: str | None = None,
    strict_loss: bool = False,
    force: bool = False,
    settings: list[str] | None = None,
    form: Form = "text",
    output_file: list[str] | None = None,
    encoding: str = "utf-8",
    defaults_file: str | None = None,
) -> None:
    """Convert between formats, and report what the output format cannot represent."""
    from hlteval.cli.output import check_inputs_stay, output_files, show_findings, write_files
    from hlteval.reports.packages import CONVERSION_FORMATS as FORMATS
    from hlteval.reports.terminal import progress, remarks, results, write
    from hlteval.sources.writing import check_outputs
    from hlteval.workflows.convert.conversion import conversion

    if target == "-" and form != "text":
        raise BadParameter("--format json needs standard output; use a path instead of -")
    files = output_files(output_file, FORMATS)
    for assignment in settings or ():
        if "=" not in assignment:
            raise BadParameter(f"invalid --set {assignment}: use NAME=VALUE")
    with usage():
        config = config_of_call(defaults_file, sources)
        taken = not_given(context, config, ["encoding"])
        shared = [config.path] if config else []
        check_inputs_stay({"sources": sources, "output_file": output_file}, (), [target, *shared])
        check_outputs([target], shared, merged=True)
    show_defaults(Defaults(config.path, tuple(taken)) if config and taken else None)
    with usage(), progress(remarks(), "converting", shown=target != "-") as step:
        done = conversion(
            sources, target, from_format=from_format or None, to_format=to_format, force=force,
            strict_loss=strict_loss, encoding=taken.get("encoding", encoding), step=step,
            settings=dict(assignment.split("=", 1) for assignment in settings or ()),
        )  # fmt: skip
    with usage():
        write_files(files, lambda name: FORMATS[name](done))
        if form == "text":
            show_findings(done.findings)
        else:
            write(results(), FORMATS[form](done))
    raise Exit(0 if done.clean else 1)


def inspect(archive: str, max_members: int | None = None, form: Form = "text") -> None:
    """Show the kind, task, name, members and problems of an archive."""
    from hlteval.reports.findings import json
    from hlteval.reports.packages import MAX_MEMBERS, inspection_text
    from hlteval.reports.terminal import results, write
    from hlteval.workflows.packages import inspect as run

    if max_members is not None and form == "json":
        raise BadParameter("--max-members has no effect without --format text")
    with usage():
        found = run(archive)
    limit = MAX_MEMBERS if max_members is None else max_members
    write(results(), json(found) if form == "json" else inspection_text(found, limit))
    raise Exit(0 if found.passed else 1)


def publish(
    task: str = "",
    target: str = "",
    platform: Literal["codabench", "evalai"] | None = None,
    reference: str = "",
    settings: str | None = None,
    manifest: str | None = None,
    example: str | None = None,
    documents: str | None = None,
    option: list[str] | None = None,
    profile: str | None = None,
    vendor: bool = False,
    force: bool = False,
    check: str | None = None,
    max_time: int = 600,
    form: Form = "text",
) -> None:
    """Make the bundle of a competition for a platform, or check one and try its program."""
    from hlteval.cli.evaluation_output import options_of

    if check is not None:
        if task or target or platform:
            raise BadParameter("--check takes a bundle, and no task, -o or --for")
        show_bundle_check(check, max_time, form)
    elif task and target and platform:
        task = path_of_task(task, ["-"])
        check_task(task)
        given = {"example": example, "documents": documents, "profile": profile}
        arguments = (task, reference, platform, settings, given, options_of(option))
        show_bundle(arguments, manifest, vendor, target, force, form)
    else:
        raise BadParameter("Use: hlteval publish TASK -r REFERENCE -o BUNDLE.zip --for PLATFORM")


def show_bundle_check(bundle: str, max_time: int, form: Form) -> NoReturn:
    """Check a bundle, and print its verdict and how its program ran.

    Raises:
        Exit: with status 0 if the bundle passes, and 1 if not.
    """
    from hlteval.cli.defaults import show_note
    from hlteval.cli.output import show_verdict
    from hlteval.reports.terminal import progress, remarks
    from hlteval.workflows.platforms import check_bundle

    with usage(), progress(remarks(), "checking"):
        verdict, note = check_bundle(bundle, max_time=max_time)
    show_verdict(verdict, form)
    if note:
        show_note(note)
    raise Exit(0 if verdict.passed else 1)


def show_bundle(
    arguments: tuple[Any, ...],
    manifest: str | None,
    vendor: bool,
    target: str,
    force: bool,
    form: Form,
) -> None:
    """Make a bundle, and print what was written.

    Args:
        arguments: those of `make_plan`.
        manifest: that of an evaluation; None for none.
        vendor: whether the scoring program has its libraries.
        target: the bundle.
        force: whether an existing one is replaced.
        form: the output format.

    Raises:
        Exit: with status 1 if nothing was written.
    """
    from hlteval.cli.output import Outputs, show_findings
    from hlteval.reports.packages import PUBLISHED as FORMATS
    from hlteval.reports.terminal import progress, remarks, results, write
    from hlteval.workflows.publication import make_plan
    from hlteval.workflows.publication import publish as run

    with usage():
        plan, findings = make_plan(*arguments, manifest=manifest, vendor=vendor)
    show_findings(findings)
    if plan is None:
        raise Exit(1)
    with usage(), Outputs(form).refusals(), progress(remarks(), "publishing"):
        packed = run(plan, target, force=force)
    write(results(), FORMATS[form](packed))


def verify(
    context: Context,
    signature: str,
    reference: str,
    system: list[str],
    task: str | None = None,
    profile: str | None = None,
    lenient: bool | None = None,
    bootstrap: int | None = None,
    confidence: float | None = None,
    seed: int | None = None,
    encoding: str | None = None,
    form: Form = "text",
) -> None:
    """Compare a signature, part by part, with files and settings."""
    from hlteval.reports.packages import VERIFICATION_FORMATS as FORMATS
    from hlteval.reports.terminal import progress, remarks, results, write
    from hlteval.workflows.verification import read_claim
    from hlteval.workflows.verification import verify as run

    with usage(), progress(remarks(), "reading") as step:
        claim = read_claim(signature)
        result = run(
            claim, reference, system, task=task, profile=profile, lenient=lenient,
            bootstrap=bootstrap, confidence=confidence, seed=seed, encoding=encoding,
            options=_options(context, task or claim.only("task")), step=step,
        )  # fmt: skip
    write(results(), FORMATS[form](result))
    raise Exit(0 if result.agrees else 1)


def _options(context: Context, task: str | None) -> Mapping[str, object]:
    """Return the options of the task among the arguments that are not options of this command.

    Raises:
        BadParameter: for any other argument.
    """
    values: dict[str, object] = {}

    def keep(request: Request) -> None:
        values.update(request.options)

    if context.args:
        group: Any = get_group(task_app(TaskCommand("score", keep, ())))
        command = group.get_command(context, task or "")
        command.main(context.args, prog_name=context.command_path, standalone_mode=False)
    return values

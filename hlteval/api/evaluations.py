"""The functions of `import hlteval` for evaluations, their manifests, campaigns and packages."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from hlteval.api.arguments import (
    AnyTask,
    Between,
    Count,
    Encoding,
    OptionValue,
    Positive,
    Profile,
    ScoredTask,
    Share,
    campaign_configs,
    check_arguments,
    pipeline_config,
    python_names,
    refuse_errors,
    task_name,
    task_options,
)
from hlteval.results.evaluation import Best, CampaignResult, PipelineResult
from hlteval.results.packages import Details, Inspection, PackedArchive
from hlteval.results.scores import Scores
from hlteval.results.verdict import Refusal, Verdict
from hlteval.sources.inputs import Input, WrongArgument, as_path, output_path
from hlteval.tasks import load
from hlteval.workflows import packages, platforms
from hlteval.workflows.evaluation import campaign as campaigns
from hlteval.workflows.evaluation import campaign_files, manifest_checks, pipeline_status
from hlteval.workflows.evaluation import pipeline as pipelines
from hlteval.workflows.evaluation import pipeline_state as state
from hlteval.workflows.evaluation.manifests import read_campaign, read_manifest
from hlteval.workflows.run.request import Request

PathName: TypeAlias = str | os.PathLike[str]
Megabytes: TypeAlias = Annotated[int, Between(0)]


@check_arguments
def pipeline(
    root: PathName,
    reference: PathName | None = None,
    *,
    against: PathName | None = None,
    task: AnyTask | None = None,
    manifest: PathName | None = None,
    profile: Profile | None = None,
    options: Mapping[str, str] | None = None,
    limit: Count | None = None,
    retry: bool = False,
    max_time: Positive = 3600,
    max_memory: Megabytes = 8000,
    jobs: Positive = 1,
    defaults: Input | None = None,
) -> PipelineResult:
    """Validate and score all submissions of an evaluation.

    Args:
        root: the folder of the evaluation, with the archives in `submissions`.
        reference: the reference of tasks that have none in the manifest.
        against: what submissions are checked against; by default the reference.
        task: the task of all submissions; by default their names, or the manifest, say it.
        manifest: the manifest of the evaluation.
        profile: `plan` or `official`; by default that of the defaults, or else `plan`.
        options: values of options, for the tasks that have them.
        limit: how many valid submissions of a team to a task are scored, 0 for all; by default as
            the manifest, or else the task, says.
        retry: try again what crashed, or took too much time or memory.
        max_time: seconds for a submission.
        max_memory: megabytes for a submission, 1200 or more; 0 for all there are.
        jobs: number of submissions at a time.
        defaults: a file of defaults (`hlteval.toml`) for what is not given; none is looked for.

    Returns:
        The status of each submission.

    Raises:
        WrongArgument: for a manifest with errors, and for any other wrong argument.
        FileNotFoundError: for a path that does not exist.
        InUse: a ValueError, if another pipeline works on the folder.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("reference", "submissions"):
        ...         Path(folder, name).mkdir()
        ...     pipeline(folder, reference=Path(folder, "reference")).counts
        {}
    """
    paths = {"root": root, "reference": reference, "against": against, "manifest": manifest}
    names = {name: output_path(name, path) for name, path in paths.items() if path is not None}
    folder, gold, texts = (names.get(name, "") for name in ("root", "reference", "against"))
    chosen = {name.replace("-", "_"): value for name, value in (options or {}).items()}
    work = state.WorkLimits(max_time, max_memory, jobs)
    choice = (task_name(task or ""), profile or "plan", chosen, limit, retry, work)
    settings = state.PipelineSettings(Path(folder), gold, texts, *choice)
    with python_names(dict(names)):
        return pipelines.pipeline(_complete(settings, names, profile, defaults))


def _complete(
    settings: state.PipelineSettings,
    names: Mapping[str, str],
    profile: str | None,
    defaults: Input | None,
) -> state.PipelineSettings:
    """Return settings with those of a file of defaults and of a manifest.

    Raises:
        WrongArgument: if the manifest has errors.
    """
    state.check_memory(settings.work.megabytes, unlimited=True)
    manifest = names.get("manifest")
    if defaults is not None:
        config = pipeline_config(defaults, settings.task, manifest)
        given = {"task": settings.task, "profile": profile, **names}
        missing = [name for name in state.SETTINGS if not given.get(name)]
        settings = state.with_config(settings, config, missing, manifest)
    settings, findings = state.with_manifest(settings, manifest)
    refuse_errors("manifest", findings, placed=False)
    return settings


@check_arguments
def check_manifest(manifest: PathName, root: PathName | None = None) -> Verdict:
    r"""Check the manifest of an evaluation, and whether the submissions agree with it.

    Args:
        manifest: the manifest.
        root: the folder of the evaluation; without it, only the manifest is checked.

    Returns:
        The verdict, with all findings.

    Raises:
        NotToml: a ValueError, if it is not a file.
        FileNotFoundError: for a path that does not exist.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "manifest.toml")
        ...     _ = path.write_text('name = "E"\ntasks = {}\nlangauges = []')
        ...     [finding.message for finding in check_manifest(path).findings]
        ['unknown key langauges']
    """
    path = output_path("manifest", manifest)
    folder = None if root is None else Path(output_path("root", root))
    with python_names({"manifest": path, "root": str(folder or "")}):
        return manifest_checks.check(path, folder)


@check_arguments
def best_submissions(manifest: PathName, root: PathName) -> tuple[Best, ...]:
    r"""The best submission of each team at each checkpoint.

    Args:
        manifest: the manifest.
        root: the folder of the evaluation, whose submissions a pipeline has scored.

    Returns:
        By task, language, condition and checkpoint; the best team first.

    Raises:
        WrongArgument: for a manifest that cannot be read.
        FileNotFoundError: for a path that does not exist.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Path(folder, "submissions").mkdir()
        ...     path = Path(folder, "manifest.toml")
        ...     _ = path.write_text('name = "E"\ntasks = {}')
        ...     best_submissions(path, folder)
        ()
    """
    read = read_manifest(output_path("manifest", manifest))
    if read.evaluation is None:
        raise WrongArgument(f"manifest: {read.findings[0].message} ({read.findings[0].code})")
    return pipeline_status.best_submissions(read.evaluation, Path(output_path("root", root)))


@check_arguments
def campaign(
    manifest: PathName,
    output: PathName | None = None,
    *,
    cache: PathName | None = None,
    jobs: Positive = 1,
    cluster: str | None = None,
    defaults: Input | None = None,
) -> CampaignResult:
    r"""Score many submissions to many tasks, in profiles and conditions, as one table.

    Args:
        manifest: the manifest of the campaign.
        output: the folder of the table and the reports; without it none are written.
        cache: the folder of the results of earlier runs; by default `cache` in the output folder.
            Without both, everything is computed.
        jobs: number of processes.
        cluster: address of the scheduler of a dask cluster that computes instead.
        defaults: a file of defaults (`hlteval.toml`) for what the manifest leaves open; none is
            looked for.

    Returns:
        The cells with what came of them.

    Raises:
        WrongArgument: for a manifest with errors, and for any other wrong argument.
        FileNotFoundError: for a path that does not exist, and without a cluster at the address.

    Examples:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "try.toml")
        ...     text = 'name = "Try"\nsubmissions.a = "a"\ntasks.hub4.reference = "gold.tpl"'
        ...     _ = path.write_text(text)
        ...     campaign(path)
        <CampaignResult: Try; 1 refused>
    """
    paths = {"manifest": manifest, "output": output, "cache": cache}
    names = {name: output_path(name, path) for name, path in paths.items() if path is not None}
    with python_names(dict(names)):
        read = read_campaign(names["manifest"])
        read = campaign_files.with_configs(read, campaign_configs(defaults, read))
        refuse_errors("manifest", read.findings)
        kept = Path(names["cache"]) if "cache" in names else None
        with tempfile.TemporaryDirectory() as nowhere:
            folder = Path(names.get("output", nowhere))
            result = campaigns.campaign_in(folder, read, cache=kept, jobs=jobs, cluster=cluster)
        if "output" in names:
            campaign_files.write_campaign(result, folder)
    return result


@check_arguments
def pack(
    task: AnyTask,
    files: Input | Sequence[Input],
    output: str | os.PathLike[str],
    *,
    against: Input | None = None,
    profile: Profile = "plan",
    encoding: Encoding = "utf-8",
    force: bool = False,
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> PackedArchive:
    r"""Pack a submission with the names, index and layout that its task requires.

    Args:
        task: name of the task.
        files: paths of folders, files or archives with the files of the submission.
        output: path of the archive; without a suffix it has the usual one of the task.
        against: the documents that it is for, against which it is validated.
        profile: `plan` or `official`, by which it is validated.
        encoding: encoding of the files.
        force: replace an existing archive.
        options: options of `validate` for the task by name, as in `docs/options.md`.
        **task_option: the same as keyword arguments.

    Returns:
        The archive with the verdict of its validation; its `path` is None if it does not pass, and
        nothing is written then.

    Raises:
        WrongOption: a ValueError, for an archive of another kind or a wrong option.
        NothingGiven: a ValueError, if there is nothing to check against.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.
        FileExistsError: if the archive exists and `force` is not set.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table = Path(folder, "run.tab")
        ...     _ = table.write_text("R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n")
        ...     packed = pack("lorehlt-edl", table, Path(folder, "NIST_EDL_CP1_1.tab.tgz"))
        >>> [member.name for member in packed.members]
        ['NIST_EDL_CP1_1.tab']
    """
    inputs: Sequence[Any] = files if isinstance(files, list | tuple) else [files]
    paths = [as_path("files", each, files_only=True) for each in inputs]
    if not paths:
        raise WrongArgument("files: expected at least one path, got none")
    reference, name = None, task_name(task)
    if against is not None:
        reference = as_path("against", against, table=load(name).scored_table)
    chosen = task_options(name, pack, options, task_option)
    target = output_path("output", output)
    with python_names({"output": target, "files": paths[0], "against": reference, **chosen}, name):
        request = Request(
            name, "", against=reference, profile=profile, encoding=encoding, options=chosen
        )
        return packages.pack(request, paths, target, force=force)


@check_arguments
def platform(
    task: ScoredTask,
    folders: PathName,
    output: PathName,
    *,
    columns: Sequence[str] = (),
    details: Details = "scores",
    profile: Profile = "plan",
    lenient: bool = False,
    bootstrap: Count = 0,
    confidence: Share = 0.95,
    seed: Count = 0,
    encoding: Encoding = "utf-8",
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Scores | Refusal:
    """Score a submission in the folders of a competition platform.

    Args:
        task: name of the task.
        folders: the folder with the reference in `ref` and the submission in `res`.
        output: the folder for `scores.json` and `detailed_results.html`.
        columns: the metrics to write; the most important ones if there are none.
        details: `scores` for a page without the reference, or `all`.
        profile: `plan` for the written specification, `official` for the official software.
        lenient: score what can be scored in spite of blocking findings.
        bootstrap: number of resamples for limits of confidence intervals; 0 for no intervals.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        encoding: encoding of the files.
        options: options of `score` for the task by name, as in `docs/options.md`.
        **task_option: the same as keyword arguments.

    Returns:
        The scores, or why there are none: the page has its findings then.

    Raises:
        WrongOption: a ValueError, for a column that is not a metric, or a wrong option.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.
    """
    name = task_name(task)
    chosen = task_options(name, platform, options, task_option)
    drawn = {"bootstrap": bootstrap, "confidence": confidence, "seed": seed}
    values = {"profile": profile, "lenient": lenient, "encoding": encoding, **drawn}
    with python_names({"folders": folders, "output": output, **chosen}, name):
        request = Request.of(load(name), {**values, "reference": ""}, chosen)
        given, target = Path(output_path("folders", folders)), output_path("output", output)
        return platforms.score_folders(request, given, Path(target), columns, details)


@check_arguments
def inspect(archive: Input) -> Inspection:
    """Show what an archive is, without a reference and without unpacking it.

    Args:
        archive: an archive, a folder or a file.

    Returns:
        Its members, the task that it is probably for, the parts of its name, and what is wrong with
        it as a package.

    Raises:
        WrongArgument, TypeError, FileNotFoundError: for a wrong argument.

    Examples:
        >>> from io import BytesIO
        >>> found = inspect(BytesIO(b"PK"))
        >>> found.kind, found.tasks
        ('stdin', ())
    """
    path = as_path("archive", archive, files_only=True)
    with python_names({"archive": path}):
        return packages.inspect(path)

"""The functions of `import hlteval` for whole evaluations: pipelines and manifests."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from hlteval.api.arguments import AnyTask, Between, Count, Positive, Profile, checked
from hlteval.api.configs import pipeline_config
from hlteval.api.options import python_names
from hlteval.results.pipeline import Best, PipelineResult
from hlteval.results.verdict import Verdict
from hlteval.sources.inputs import Input, WrongArgument, output_path
from hlteval.workflows import best, manifest_verdict
from hlteval.workflows import pipeline as workflow
from hlteval.workflows.least_memory import check_memory
from hlteval.workflows.manifests import read_manifest
from hlteval.workflows.pipeline_defaults import with_config
from hlteval.workflows.pipeline_settings import PipelineSettings, settings
from hlteval.workflows.pipeline_workers import WorkLimits

PathName: TypeAlias = str | os.PathLike[str]
Megabytes: TypeAlias = Annotated[int, Between(0)]


@checked
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
    given: dict[str, Any] = {"task": task, "profile": profile, "most": limit, "retry": retry}
    with python_names(dict(names)):
        check_memory(max_memory, unlimited=True)
        made = _settings(names, options or {}, given, defaults)
        return workflow.pipeline(made, jobs=jobs, limits=WorkLimits(max_time, max_memory))


def _settings(
    names: Mapping[str, str],
    options: Mapping[str, str],
    given: Mapping[str, Any],
    defaults: Input | None,
) -> PipelineSettings:
    """The settings of a pipeline.

    Raises:
        WrongArgument: if its manifest has errors.
    """
    own = {**given, "reference": names.get("reference"), "against": names.get("against")}
    missing = [name for name in own if own[name] is None]
    own |= {name: "plan" if name == "profile" else "" for name in missing if name in _TEXTS}
    own |= {"root": Path(names["root"]), "manifest": names.get("manifest")}
    own["options"] = {name.replace("-", "_"): value for name, value in options.items()}
    if defaults is not None:
        config = pipeline_config(defaults, own["task"], own["manifest"])
        own = with_config(config, own, missing)
    made, found = settings(**own)
    for finding in found:
        if finding.severity == "error":
            raise WrongArgument(f"manifest: {finding.message} ({finding.code})")
    return made


_TEXTS = ("task", "profile", "reference", "against")
"""The settings of a pipeline that are texts, empty if they are not given."""


@checked
def check_manifest(manifest: PathName, root: PathName | None = None) -> Verdict:
    r"""Check the manifest of an evaluation, and whether the submissions agree with it.

    Args:
        manifest: the manifest.
        root: the folder of the evaluation; without it, only the manifest is checked.

    Returns:
        The verdict, with all findings.

    Raises:
        WrongManifest: a ValueError, if it is not a file.
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
        return manifest_verdict.check(path, folder)


@checked
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
    return best.best_submissions(read.evaluation, Path(output_path("root", root)))

"""Watching: a pipeline that goes on whenever submissions or references change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hlteval.results.pipeline import PipelineResult
from hlteval.workflows.deposits import FOLDER
from hlteval.workflows.pipeline import opened
from hlteval.workflows.pipeline_settings import PipelineSettings
from hlteval.workflows.pipeline_workers import WorkLimits

_QUIET = 1000
"""Milliseconds without a change after which the pipeline goes on: uploads take a while."""
_LONGEST = 60_000
"""Milliseconds after which it goes on in any case."""
_NOW_AND_THEN = 30_000
"""Milliseconds after which it looks by itself: drives of a network report no changes."""


class CannotWatch(ValueError):
    """The library that watches folders is not installed."""


def watch(
    settings: PipelineSettings, *, jobs: int = 1, limits: WorkLimits | None = None
) -> Iterator[PipelineResult]:
    """Run a pipeline, and again after each change, until nobody asks for more.

    Args:
        settings: how submissions are validated and scored.
        jobs: how many processes work at most.
        limits: what each may use for one step of a submission.

    Yields:
        The result of each run that did something, and of the first one.

    Raises:
        CannotWatch: if the library for it is not installed.
        hlteval.workflows.root_lock.InUse: if another pipeline works on the root.
    """
    changes = _changes(settings)
    with opened(settings, jobs=jobs, limits=limits) as run:
        yield run()
        for _ in changes:
            result = run()
            if result.done:
                yield result


def _changes(settings: PipelineSettings) -> Iterator[object]:
    """Something each time after something changed, and now and then.

    Raises:
        CannotWatch: if the library for it is not installed.
    """
    try:
        import watchfiles
    except ImportError as error:
        raise CannotWatch("--watch needs watchfiles: pip install 'hlteval[watch]'") from error
    return watchfiles.watch(
        *watched_paths(settings),
        debounce=_LONGEST,
        step=_QUIET,
        rust_timeout=_NOW_AND_THEN,
        yield_on_timeout=True,
    )


def watched_paths(settings: PipelineSettings) -> list[Path]:
    """The folders and files on which results depend, which exist."""
    paths = [settings.root / FOLDER]
    paths += [Path(each) for each in (settings.reference, settings.against) if each]
    for task in settings.tasks:
        for given in (settings.of_task(task).reference, settings.of_task(task).against):
            each = [given] if isinstance(given, str) else given.values()
            paths += [settings.folder / path for path in each if path]
    return [path for path in dict.fromkeys(paths) if path.exists()]

"""The functions of `import hlteval` about packages: `pack` and `inspect`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from hlteval.api.arguments import AnyTask, Encoding, Profile, checked
from hlteval.api.options import OptionValue, python_names, task_options
from hlteval.results.packages import Inspection, PackedArchive
from hlteval.sources.inputs import Input, WrongArgument, as_path, output_path
from hlteval.tasks import load
from hlteval.workflows import inspection, packing


@checked
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
    given: Sequence[Any] = files if isinstance(files, list | tuple) else [files]
    paths = [as_path("files", each, files_only=True) for each in given]
    if not paths:
        raise WrongArgument("files: expected at least one path, got none")
    reference = None
    if against is not None:
        reference = as_path("against", against, table=load(task).scored_table)
    chosen = task_options(task, pack, options, task_option)
    target = output_path("output", output)
    arguments: dict[str, Any] = {"against": reference, "profile": profile, "encoding": encoding}
    with python_names({"output": target, "files": paths[0], "against": reference, **chosen}, task):
        return packing.pack(task, paths, target, force=force, options=chosen, **arguments)


@checked
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
        return inspection.inspect(path)

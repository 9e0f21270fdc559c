"""Files as a corpus or in another format: `read` and `convert`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from hlteval.api.arguments import Encoding, FormatName, checked
from hlteval.api.names import with_distinct_names
from hlteval.api.options import python_names
from hlteval.findings import Findings
from hlteval.representation import Corpus
from hlteval.sources.disk import temporary_folder
from hlteval.sources.inputs import Input, WrongArgument, as_path, output_path
from hlteval.workflows import conversion


@checked
def read(source: Input, from_format: FormatName | None = None) -> tuple[Corpus, Findings]:
    r"""Read files in any format as a corpus.

    Args:
        source: the files.
        from_format: name of their format; detected if it is not given.

    Returns:
        The corpus, and the findings about the files as such. What a task allows is not checked:
        see `validate`.

    Raises:
        UnknownFormat: a ValueError, if the format cannot be detected.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.

    Examples:
        >>> from io import StringIO
        >>> table = StringIO("R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n")
        >>> corpus, findings = read(table, "edl-tab")
        >>> corpus.mentions["text"].to_list(), findings
        (['Osh'], <Findings: none>)
    """
    path = as_path("source", source)
    with python_names({"source": path}):
        corpus, findings = conversion.read(path, from_format)
    return corpus, Findings(findings)


@checked
def convert(
    source: Input | Sequence[Input],
    output: str | os.PathLike[str] | BinaryIO,
    *,
    from_format: FormatName | None = None,
    to_format: FormatName | None = None,
    strict_loss: bool = False,
    settings: Mapping[str, str] | None = None,
    encoding: Encoding = "utf-8",
    force: bool = False,
) -> Findings:
    """Convert files to another format.

    Args:
        source: the files, or a corpus; a list of several is joined by document name.
        output: path to write to, or a file that is open for writing bytes.
        from_format: name of the format of the source; detected if it is not given.
        to_format: name of the format to write; by default that of the suffix of the output.
        strict_loss: write nothing if anything would be lost, or could not be read.
        settings: of either format, by name, as `hlteval formats` lists them.
        encoding: encoding of the files that are read.
        force: replace an existing output.

    Returns:
        The findings of the source, and what the output format cannot represent.

    Raises:
        Lossy: a ValueError, with `strict_loss`, if something would be lost.
        NotConverted: a ValueError, if nothing can be read, or the format can represent nothing.
        UnknownFormat, WrongSetting: ValueErrors, for a format or setting that does not fit.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.
        FileExistsError: if the output exists and `force` is not set.

    Examples:
        >>> from io import BytesIO
        >>> corpus, output = Corpus(documents=[{"row": 0, "name": "d1"}]), BytesIO()
        >>> convert(corpus, output, to_format="jsonl")
        <Findings: none>
        >>> output.getvalue().splitlines()[1]
        b'{"table":"documents","row":0,"name":"d1"}'
    """
    listed: Sequence[Any] = source if isinstance(source, list | tuple) else [source]
    sources = with_distinct_names([as_path("source", each) for each in listed])
    if not sources:
        raise WrongArgument("source: expected at least one input, got none")
    arguments: dict[str, Any] = {"from_format": from_format, "to_format": to_format}
    arguments |= {"strict_loss": strict_loss, "settings": _texts("settings", settings or {})}
    arguments |= {"encoding": encoding, "force": force}
    if not isinstance(output, str | os.PathLike):
        return Findings(_to_stream(sources, output, arguments))
    written = output_path("output", output)
    with python_names({"source": sources[0], "output": written}):
        return Findings(conversion.convert(sources, written, **arguments))


def _to_stream(sources: list[str], output: object, arguments: Mapping[str, Any]) -> Iterable[Any]:
    """Convert to an open file, of whose name the suffix is that of the format."""
    if isinstance(output, type) or not callable(getattr(output, "write", None)):
        kind = type(output).__name__
        raise TypeError(f"output: expected a path or a file open for writing bytes, got {kind}")
    name = getattr(output, "name", "")
    name = Path(name).name if isinstance(name, str) else ""
    if arguments["to_format"] is None and not name:
        raise WrongArgument("output: has no name with a suffix; set to_format")
    with temporary_folder() as folder:
        file = folder / (name or "output")
        with python_names({"source": sources[0], "output": str(file)}):
            findings = conversion.convert(sources, str(file), **arguments)
        if file.is_dir():
            raise WrongArgument("output: the format writes a folder; use a path")
        try:
            with file.open("rb") as stream:
                shutil.copyfileobj(stream, cast(BinaryIO, output))
        except TypeError:
            raise TypeError("output: is open for text; open it for bytes (mode 'wb')") from None
        except (OSError, ValueError) as error:
            raise WrongArgument(f"output: cannot be written: {error}") from error
    return findings


def _texts(argument: str, values: Mapping[Any, object]) -> dict[str, str]:
    """A mapping of text to text."""
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"{argument}: expected text by name, got {name!r}: {value!r}")
    return {name: str(value) for name, value in values.items()}

"""Manifests: an evaluation as a TOML file, read and checked by itself."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from hlteval.results.evaluation import Evaluation
from hlteval.workflows.toml_files import TomlFile, WrongManifest, read_toml

__all__ = ["Manifest", "WrongManifest", "read_manifest"]


@dataclass(frozen=True)
class Manifest(TomlFile):
    """A manifest as it was read.

    Attributes:
        evaluation: what it declares; None if it cannot be read, or breaks the schema.
    """

    evaluation: Evaluation | None = None


def read_manifest(path: str) -> Manifest:
    """Read a manifest: its findings are those of its syntax and structure.

    Raises:
        FileNotFoundError: if the file does not exist.
        WrongManifest: if it is not one file.
    """
    read = read_toml(path, "manifest", "MAN")
    evaluation = None if read.content is None else msgspec.convert(read.content, Evaluation)
    return Manifest(read.path, read.text, read.content, read.findings, evaluation)

"""Outputs of commands held to the schemas that are published for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from hlteval.reports.lists import schema_text

JSON = ("json", "jsonl")


@cache
def validator(name: str) -> Any:
    """The validator of a schema, made once."""
    return jsonschema_rs.validator_for(json.loads(schema_text(name)))


def check(output: Any) -> None:
    """Hold that an output is as the schema of its name says."""
    validator(output["schema"]).validate(output)


def check_outputs(words: Sequence[str], stdout: str) -> None:
    """Hold all JSON that a command printed or wrote to its schema."""
    for form, text in _outputs(words, stdout):
        lines = text.splitlines() if form == "jsonl" or "--watch" in words else [text]
        for line in filter(None, lines):
            check(json.loads(line))


def _outputs(words: Sequence[str], stdout: str) -> Iterator[tuple[str, str]]:
    """The format and the text of each."""
    for option, value in zip(words, [*words[1:], ""], strict=True):
        name, _, attached = option.partition("=")
        form, _, path = (attached or value).partition("=")
        if name == "--format" and form in JSON:
            yield form, stdout
        elif name == "--output-file" and form in JSON and Path(path).is_file():
            yield form, Path(path).read_text("utf-8")

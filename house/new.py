"""A task, a format or a rule to begin with: `make new-task NAME=spans`, see docs/adding.md.

The files of `house/skeleton` are written under their names, and a line wherever something is
listed. The result works: labelled spans in a table, scored by exact match. What a specification
decides is marked by `FILL IN`: `tests/unit/test_skeleton.py` fails until no mark is left.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from string import Template

ROOT = Path(__file__).parents[1]
SKELETON = Path(__file__).with_name("skeleton")
Names = dict[str, str]


def new_format(root: Path, names: Names) -> None:
    """Write a format with its codes, fixtures and tests."""
    write_files(root, "format", names)
    form = names["format"]
    with (root / "converters/formats.toml").open("a", encoding="utf-8") as listed:
        listed.write(f'{form} = "{names["family"]}.{names["module"]}"\n')
    add_package(root, "converters", names["family"])
    row = f"| `{form}` | {names['title']}: document, begin, end, label | yes | yes |"
    add_line(root / "README.md", "| format |", "", row)
    names_of_systems = root / "hlteval/results/systems.py"  # which leave the suffix out
    text = names_of_systems.read_text("utf-8")
    suffix = re.escape(f".{names['suffix']}")
    names_of_systems.write_text(text.replace(r"|\.frames|", rf"|{suffix}|\.frames|"), "utf-8")


def new_task(root: Path, names: Names) -> None:
    """Write a task with its rules and its metric, and its format if there is none of that name."""
    if f"\n{names['format']} = " not in (root / "converters/formats.toml").read_text("utf-8"):
        new_format(root, names)
    write_files(root, "task", names)
    name, family, title = names["name"], names["family"], names["title"]
    add_line(root / "hlteval/tasks/__init__.py", "BUILTIN", ")", f'    "{name}",')
    for room in ("scoring", "validators"):
        add_package(root, room, family)
    row = f"| `{name}` | [{title}](docs/{name}.md) | a table (`{names['format']}`) |"
    add_line(root / "README.md", "| task |", "", row)
    row = f"| `{name}` | labelled spans | F1 | [{names['lower']}]({name}.md) |"
    add_line(root / "docs/tutorials/index.md", "| task |", "", row)
    add_line(root / "mkdocs.yml", "  - Tasks:", "  - ", f"      - {title}: {name}.md")


def new_rule(root: Path, names: Names) -> None:
    """Write a rule that finds nothing, its code, and a fixture with its place."""
    code, subject, family = names["number"], names["subject"], names["family"]
    write_files(root, "rule", names)
    rules = root / f"validators/{family}/rules.py"
    function = f"{subject}.{names['function']}"
    add_line(rules, "RULES", ")", f'    Rule("{code}", "mentions", {function}),')
    add_line(rules, "from hlteval.", "", f"from hlteval.validators.{family} import {subject}")
    alike = re.compile(rf"^{code[:3]}\d{{3}}-\S+ .*\n", re.MULTILINE)
    table = next(
        path
        for path in sorted(root.glob("tests/unit/**/test_*.py"))
        if "invalid" in path.read_text("utf-8") and alike.search(path.read_text("utf-8"))
    )
    text = table.read_text("utf-8")
    *_, last = alike.finditer(text)
    (invalid,) = (path.parent for path in root.glob(f"fixtures/*/invalid/{last[0].split()[0]}"))
    valid = min(invalid.with_name("valid").iterdir())
    copy = invalid / f"{code}-{names['name']}{''.join(valid.suffixes)}"
    (shutil.copytree if valid.is_dir() else shutil.copy)(valid, copy)
    place = f"{copy.name}  0  0  0  E\n"
    table.write_text(text[: last.end()] + place + text[last.end() :], "utf-8")


def write_files(root: Path, part: str, names: Names) -> None:
    """Write the files of a part; what exists gets further lines, but a package that of its own."""
    for source in sorted((SKELETON / part).rglob("*.txt")):
        inner = source.relative_to(SKELETON / part).as_posix().removesuffix(".txt")
        words = "NAME|FAMILY|FORMAT|MODULE|SUFFIX|SUBJECT|CODE"
        path = root / re.sub(words, lambda word: names[word[0].lower()], inner)
        text = Template(source.read_text("utf-8")).substitute(names)
        head, _, rest = text.partition("\n# ---\n")
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(head + rest, "utf-8")
        elif path.name != "__init__.py":
            path.write_text(path.read_text("utf-8") + (rest or text), "utf-8")


def add_line(path: Path, begin: str, end: str, line: str) -> None:
    """Add a line to a list, which begins and ends with lines that begin so (an empty one: "")."""
    lines = path.read_text("utf-8").splitlines()
    if line in lines:
        return
    first = next(number for number, text in enumerate(lines) if text.startswith(begin))
    numbers = range(first + 1, len(lines))
    last = next(n for n in numbers if (lines[n].startswith(end) if end else not lines[n]))
    path.write_text("\n".join([*lines[:last], line, *lines[last:]]) + "\n", "utf-8")


def add_package(root: Path, room: str, family: str) -> None:
    """Add the package of a family to those that are installed."""
    line = f'    "hlteval.{room}.{family}",'
    add_line(root / "pyproject.toml", f'    "hlteval.{room}",', '    "hlteval.', line)


def names_of(name: str, given: argparse.Namespace) -> Names:
    """What the placeholders of the skeleton stand for."""
    family = given.family or name.replace("-", "_")
    form = name if given.part == "format" else given.format or f"{name}-tab"
    title = given.title or name.replace("-", " ").capitalize()
    return {
        "name": name,
        "family": family,
        "format": form,
        "module": form.replace("-", "_"),
        "suffix": form.removesuffix("-tab"),
        "code": given.code or given.number[:3] or family[:3].upper(),
        "title": title,
        "lower": title[0].lower() + title[1:],
        "specification": given.specification or title,
        "number": given.number,
        "subject": given.subject,
        "function": name.replace("-", "_"),
    }


def tidy(root: Path, family: str) -> None:
    """Sort the imports and format the lines of what was written."""
    rooms = ("converters", "scoring", "validators", "tests/unit")
    files = [str(path) for room in rooms for path in root.glob(f"{room}/{family}*")]
    for words in (["check", "--select", "I", "--fix"], ["format"]):
        subprocess.run([sys.executable, "-m", "ruff", *words, "--quiet", *files], check=True)


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m house.new", description=__doc__)
    parser.add_argument("part", choices=["task", "format", "rule"])
    parser.add_argument("name", help="in small letters, with hyphens")
    parser.add_argument("--family", default="", help="package of each room (default: the name)")
    parser.add_argument("--format", default="", help="default: a new one, NAME-tab")
    parser.add_argument("--title", default="", help="one line for people")
    parser.add_argument("--specification", default="", help="the document that a task follows")
    parser.add_argument("--code", default="", help="three letters (default: those of the family)")
    parser.add_argument("--number", default="", help="the code of a rule, e.g. SPA303")
    parser.add_argument("--subject", default="records", help="the module of a rule")
    given = parser.parse_args(arguments)
    if not re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*", given.name):
        parser.error(f"{given.name} is not like labelled-spans")
    names = names_of(given.name, given)
    taken = {
        "task": f"hlteval/tasks/{names['name']}.toml",
        "format": f"converters/{names['family']}/{names['module']}.py",
        "rule": f"fixtures/*/invalid/{names['number']}-*",
    }
    codes = root / f"hlteval/findings/codes/{names['code']}.toml"
    if any(root.glob(taken[given.part])) or (given.part != "rule" and codes.exists()):
        parser.error("there is one of that name, or its code is taken: use CODE=ABC")
    {"task": new_task, "format": new_format, "rule": new_rule}[given.part](root, names)
    tidy(root, names["family"])
    sys.stdout.write("To fill in: pytest tests/unit/test_skeleton.py; see docs/adding.md\n")


if __name__ == "__main__":
    main()

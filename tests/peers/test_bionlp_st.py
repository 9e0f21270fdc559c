"""The official software of Bacteria Biotope beside ours, on random annotations.

The variable HLTEVAL_BIONLP_ST is the class path of its `bionlp-st-core`, whose first entry is the
folder of its classes and resources; without it, all is skipped. Where several pairs are equally
similar, the software takes one by the addresses of objects: it runs with several ways to make
these.
"""

from __future__ import annotations

import csv
import math
import os
import random
import subprocess
from pathlib import Path

import pytest

import hlteval
from tests.effort import tries

CLASSES = os.environ.get("HLTEVAL_BIONLP_ST", "")
if not CLASSES:
    pytest.skip("HLTEVAL_BIONLP_ST is not set", allow_module_level=True)
DATA = "org/bionlpst/data"
PARENTS = {
    "2019": Path(CLASSES.split(os.pathsep)[0], DATA, "OntoBiotope_BioNLP-OST-2019_parents.txt"),
    "2016": Path(CLASSES.split(os.pathsep)[0], DATA, "OntoBiotope_BioNLP-ST-2016_parents.txt"),
}
#: The list of taxa that the software lacks.
TAXA = f"{DATA}/BioNLP-OST-2019_BB-norm_Microorganism-ids.txt"
TASKS = {
    "bb19-norm": "BB19-norm",
    "bb19-norm-ner": "BB19-norm+ner",
    "bb19-rel": "BB19-rel",
    "bb19-rel-ner": "BB19-rel+ner",
    "bb19-kb": "BB19-kb",
    "bb19-kb-ner": "BB19-kb+ner",
    "bb16-cat": "BB-cat",
    "bb16-event": "BB-event",
}
#: Scorings of files that only the software has.
NEEDING = (
    "(new in dev)",
    "(inside sentences)",
    "(cap to human)",
    "(food only)",
    "(cap to species)",
)
WORDS = ["milk", "cheese", "gut", "soil", "of", "in", "human", "water", "rod"]


class Writer:
    """Writes random annotations of a task."""

    def __init__(self, task: str, seed: int) -> None:
        self.task, self.random = task, random.Random(f"{task} {seed}")
        self.year = "2019" if "19" in task else "2016"
        self.micro = "Microorganism" if self.year == "2019" else "Bacteria"
        self.linked = any(part in task for part in ("rel", "event", "kb"))
        self.named = any(part in task for part in ("norm", "cat", "kb"))
        lines = PARENTS[self.year].read_text("utf-8").splitlines()
        parents = [line.split("\t") for line in self.random.sample(lines, 8)]
        self.concepts = [each for pair in parents for each in pair]

    def entities(self, words: int) -> dict[str, tuple[str, int, int]]:
        labels = [self.micro, "Habitat"] + ["Phenotype"] * (self.year == "2019")
        some = (self.random.randrange(words) for _ in range(self.random.randint(2, 9)))
        return {
            f"T{number}": (self.random.choice(labels), at, at + self.random.randint(1, 3))
            for number, at in enumerate(some, 2)
        }

    def changed(self, entities: dict[str, tuple[str, int, int]]) -> dict[str, tuple[str, int, int]]:
        moves = ((name, self.random.choice((0, 0, 1)), each) for name, each in entities.items())
        moved = {name: (label, at, end + more) for name, more, (label, at, end) in moves}
        return {name: each for name, each in moved.items() if self.random.random() < 0.9}

    def referents(self, label: str) -> list[str]:
        if label == self.micro:
            return [f"NCBI_Taxonomy Annotation:{{}} Referent:{self.random.choice('279')}"]
        some = self.random.sample(self.concepts, self.random.choice((1, 1, 2)))
        return [f"OntoBiotope Annotation:{{}} Referent:{each}" for each in dict.fromkeys(some)]

    def relations(self, entities: dict[str, tuple[str, int, int]]) -> list[str]:
        second = {
            "Habitat": "Lives_In {}:{} Location:{}",
            "Phenotype": "Exhibits {}:{} Property:{}",
        }
        pairs = [
            second[label].format(self.micro, one, other)
            for one, (own, *_) in entities.items()
            for other, (label, *_) in entities.items()
            if own == self.micro and label in second
        ]
        return self.random.sample(pairs, min(len(pairs), self.random.randint(0, 5)))

    def annotations(self, entities, own: dict[str, list[str]], relations: list[str]) -> str:
        names = [line.format(name) for name in entities for line in own[name] if self.named]
        lines = [f"N{number}\t{line}" for number, line in enumerate(names, 1)]
        some = relations if self.linked else []
        lines += [f"R{number}\t{line}" for number, line in enumerate(some, 1)]
        return "".join(f"{line}\n" for line in lines)

    def equivalences(self, entities: dict[str, tuple[str, int, int]]) -> str:
        same = [name for name, each in entities.items() if each[0] == self.micro][:2]
        return f"*\tEquiv {' '.join(same)}\n" if "kb" not in self.task and len(same) > 1 else ""

    def write(self, folder: Path, name: str) -> None:
        text = " ".join(self.random.choice(WORDS).ljust(6, "x") for _ in range(30))
        gold = self.entities(20)
        found = self.changed(gold) if "ner" in self.task else gold
        span = "{}\t{} {} {}\t{}\n"
        spans = [
            "".join(
                span.format(one, label, 7 * at, 7 * end - 1, text[7 * at : 7 * end - 1])
                for one, (label, at, end) in each.items()
            )
            for each in (gold, found)
        ]
        own = {one: self.referents(label) for one, (label, *_) in gold.items()}
        kept = {
            one: lines if self.random.random() < 0.6 else self.referents(gold[one][0])
            for one, lines in own.items()
        }
        lines = self.relations(gold)
        theirs = [*self.random.sample(lines, len(lines) // 2), *self.relations(found)]
        usual = [line for line in theirs if all(p.split(":")[1] in found for p in line.split()[1:])]
        right = self.annotations(gold, own, lines)
        if self.linked:
            right += self.equivalences(gold)
        given, asked = ("", spans) if "ner" in self.task else (spans[0], ("", ""))
        files = {
            f"reference/{name}.txt": text,
            f"reference/{name}.a1": given,
            f"reference/{name}.a2": asked[0] + right,
            f"system/{name}.a2": asked[1]
            + self.annotations(found, kept, list(dict.fromkeys(usual))),
        }
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content, "utf-8")


def run(folder: Path, task: str, addresses: int) -> dict[tuple[str, ...], float]:
    """The numbers of the software: by evaluation, scoring and measure."""
    (folder / TAXA).parent.mkdir(parents=True, exist_ok=True)
    (folder / TAXA).write_text("2\n7\n9\n", "utf-8")
    command = ["java", "-XX:+UnlockExperimentalVMOptions", f"-XX:hashCode={addresses}"]
    command += ["-cp", os.pathsep.join((str(folder), CLASSES)), "org.bionlpst.app.cli.BioNLPSTCLI"]
    sides = ["-reference", str(folder / "reference"), "-prediction", str(folder / "system")]
    command += ["-task", TASKS[task], *sides, "-alternate", "-tabular"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = csv.reader(done.stdout.splitlines(), delimiter="\t")
    return {tuple(row[1:4]): float(row[4]) for row in rows}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(tries(12)))
def test_numbers_are_those_of_the_software(tmp_path: Path, task: str, seed: int) -> None:
    writer = Writer(task, seed)
    for name in ("a", "b"):
        writer.write(tmp_path, name)
    sides = (str(tmp_path / "reference"), str(tmp_path / "system"))
    options = {} if "rel" in task or "event" in task else {"ontology": str(PARENTS[writer.year])}
    result = hlteval.score(task, *sides, profile="official", lenient=True, options=options)
    runs = [run(tmp_path, task, addresses) for addresses in (5, 3, 0)]
    for evaluation, scoring, measure, value in result.tables["scorings"].rows():
        if scoring.endswith(NEEDING):
            continue
        values = [each[evaluation, scoring, measure] for each in runs]
        finite = [each if math.isfinite(each) else None for each in values]
        assert value in [None if e is None else pytest.approx(e, abs=1e-12) for e in finite], (
            scoring
        )

"""Wrong declarations as users may write them: each message says what to do.

The messages are in tests/golden/wrong_declarations.txt, to be read; `--update-golden` writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hlteval.tasks.generic.declaration import read_declaration

GOLDEN = Path(__file__).parents[2] / "golden" / "wrong_declarations.txt"
CONFS = {
    "empty.conf": "[entities]\n\n[relations]\n",
    "full.conf": "[entities]\nPerson\nOrg\n\n[relations]\n"
    "Works\tArg1:Person, Arg2:Organisation\nbad Arg1 Person\n[evnts]\n",
    "here.txt": "",
}
#: The unit, or none where the text has the table `task` itself; and the rest of the declaration.
WRONG = [
    ("", "[task\nunit = 1"),
    ("", "[task]\nunit = mentions"),
    ("mentions", 'unit = "labels"'),
    ("", '[task]\nname = "people"'),
    ("", '[labels]\ndeclared = ["PER"]'),
    ("", '[task]\nunit = "mention"'),
    ("", '[task]\nunit = "ner"'),
    ("", '[task]\nunit = ["mentions"]'),
    ("mentions", 'nmae = "x"'),
    ("mentions", 'name = ""'),
    ("mentions", 'name = "hub4"'),
    ("mentions", "name = 3"),
    ("", '[tasks]\nunit = "mentions"'),
    ("", 'unit = "mentions"'),
    ("mentions", 'preset = "seqevall"'),
    ("mentions", 'preset = "conlleval"'),
    ("labels", 'preset = "seqeval"'),
    ("transcripts", 'preset = "sclite"'),
    ("mentions", '[read]\nformat = "brats"'),
    ("mentions", '[read]\nformat = "rttm"'),
    ("mentions", '[read]\nformat = "csv"'),
    ("mentions", '[read]\nformt = "brat"'),
    ("mentions", '[read]\nformat = "brat"\noffset = "utf-16"'),
    ("mentions", '[read]\nformat = "brat"\noffsets = "utf16"'),
    ("mentions", '[read]\nformat = "conll-columns"\nscheme = "BIO"'),
    ("mentions", '[read]\nformat = "conll-columns"\ncolumns = -1'),
    ("mentions", '[read]\nformat = "conll-columns"\nmode = "strict"'),
    ("mentions", 'preset = "seqeval"\n[read]\nformat = "conll-columns"\nmode = "strickt"'),
    ("mentions", '[read]\nreference = "conll-columns"'),
    ("mentions", '[read.system]\nformat = "rttm"'),
    ("mentions", '[read.system]\noffsts = "bytes"'),
    ("segments", '[read]\nformat = "rttm"\nevaluated = { format = "uem", path = "none.uem" }'),
    ("segments", '[read]\nformat = "rttm"\nevaluated = { format = "uem", path = "/data/all.uem" }'),
    ("segments", '[read]\nformat = "rttm"\nevaluated = "all.uem"'),
    ("segments", '[read]\nformat = "rttm"\nevaluated = { format = "rttm", path = "here.txt" }'),
    ("mentions", '[labels]\ndeclared = "PER"'),
    ("labels", '[labels]\nkind = "number"'),
    ("labels", '[labels]\nkind = "numbers"\nrange = [5, 0]'),
    ("labels", '[labels]\nkind = "numbers"\nrange = [0, 5, 10]'),
    ("labels", '[labels]\nkind = "numbers"\nrange = "0-5"'),
    ("labels", "[labels]\nrange = [0, 5]"),
    ("labels", '[labels]\nkind = "numbers"\ndeclared = ["1", "2"]'),
    ("labels", '[labels]\nkind = "numbers"\n[scores]\naverage = ["macro"]\nby = ["label"]'),
    ("labels", '[labels]\nkind = "numbers"\n[scores]\nmeasures = ["accuracy"]'),
    ("labels", '[labels]\nkind = "numbers"\n[scores]\nprimary = "macro.f1"'),
    ("labels", '[labels]\nkind = "numbers"\n[agreement]\ncoefficient = "kappa"'),
    ("labels", 'preset = "scikit-learn"\n[labels]\nkind = "numbers"'),
    ("labels", '[scores]\nmeasures = ["spearman"]'),
    ("mentions", '[labels]\nkind = "numbers"'),
    ("mentions", "[labels]\ndeclared = []"),
    ("mentions", '[labels]\ndeclared = ["PER", "LOC", "PER"]'),
    ("mentions", '[labels]\ndeclared = ["PER", 3]'),
    ("mentions", '[labels]\nlabels = ["PER"]'),
    ("mentions", '[labels]\ndeclared = ["PER", "LOC"]\nignore = ["LOC"]'),
    ("mentions", '[labels]\ndeclared = ["PER"]\nmap = { PER = "Person" }'),
    ("mentions", '[labels]\ndeclared = ["Person"]\nmap = { PER = "Persn" }'),
    ("mentions", '[labels]\nmap = { a = "b", b = "c", c = "a" }'),
    ("mentions", '[labels]\nmap = { PER = "Person" }\nignore = ["PER", "LOC"]'),
    ("mentions", '[labels]\nparents = { City = "Place", Place = "City" }'),
    ("mentions", '[labels]\nundeclared = "warning"'),
    ("mentions", '[labels]\ndeclared = ["PER"]\nundeclared = "drop"'),
    ("mentions", '[labels]\nfrom = "annotation.conf"'),
    ("mentions", '[labels]\nfrom = "../annotation.conf"'),
    ("mentions", '[labels]\nfrom = "empty.conf"'),
    ("mentions", '[labels]\nfrom = "full.conf"\ndeclared = ["Person"]'),
    ("mentions", '[match]\nspan = "exakt"'),
    ("mentions", '[match]\nspan = "partial"'),
    ("mentions", '[match]\nspan = "iou"\nthreshold = 50'),
    ("mentions", '[match]\nspan = "overlap"\nthreshold = 0'),
    ("mentions", "[match]\nthreshold = 0.5"),
    ("mentions", '[match]\ncredit = "half"'),
    ("mentions", '[match]\nspan = "iou"\ncredit = "soft"'),
    ("mentions", '[match]\nspan = "iou"\ncredit = "wang:here.txt"'),
    ("links", '[match]\ncredit = "half"'),
    ("links", '[match]\ncredit = "wang"'),
    ("links", '[match]\ncredit = "wang:none.tsv"'),
    ("links", '[match]\ncredit = "wang:../here.txt"'),
    ("links", '[match]\ncredit = "wang:here.txt:1.5"'),
    ("links", '[match]\ncredit = "wang:here.txt:high"'),
    ("links", 'preset = "neleval"\n[match]\ncredit = "jaccard"'),
    ("mentions", '[match]\nspan = "iou"\nthreshold = "half"'),
    ("mentions", "[match]\ncollar = 0.25"),
    ("mentions", "[match]\nlowercase = true"),
    ("segments", "[match]\ncollar = -1"),
    ("segments", '[match]\nskip_overlap = "yes"'),
    ("mentions", 'preset = "nervaluate"\n[match]\npairing = "optimal"'),
    ("mentions", '[scores]\naverage = ["mirco"]'),
    ("mentions", '[scores]\naverage = "micro"'),
    ("mentions", '[scores]\naverage = ["micro"]\nprimary = "macro.f1"'),
    ("mentions", '[scores]\nprimary = "f1"'),
    ("mentions", '[scores]\nprimary = "micro.f"'),
    ("mentions", '[scores]\nmacro_over = "declared"'),
    ("mentions", '[scores]\naverage = ["micro"]\nmacro_over = "seen"'),
    ("mentions", '[scores]\nundefined = "zero"'),
    ("mentions", '[scores]\nby = ["type"]'),
    ("mentions", '[labels]\ndeclared = ["PER"]\n[scores]\naverage_labels = ["PRE"]'),
    ("segments", '[scores]\nmeasures = ["derr", "jer"]'),
    ("segments", '[scores]\nmeasures = ["der"]\nprimary = "jer"'),
    ("mentions", '[relations]\nsymmetric = ["Sibling"]'),
    (
        "relations",
        '[labels]\ndeclared = ["Works"]\n[relations]\nsymmetric = ["Sibling"]\n'
        'roles = {Wroks = {P1 = ["P"]}}',
    ),
    ("relations", '[labels]\nfrom = "full.conf"'),
    ("mentions", '[agreement]\ncoefficient = "gamma"'),
    ("mentions", '[agreement]\nunit = "labels"'),
    ("labels", '[agreement]\nunit = "number"'),
    ("events", '[agreement]\nunit = "label"'),
    ("mentions", 'title = "caf\u00e9 \u0001"'),
    ("mentions", '[labels]\ndeclared = ["Ω", "é", "Ω"]'),
    ("mentions", '[labels]\ndeclared = ["Ωé"]\nmap = { "日本" = "Ωè" }'),
    ("mentions", 'name = "x"\r\n[match]\r\nspan = "exakt"'),
    ("mentions", "[match]\nspan = { kind = 'exact' }"),
    ("mentions", "[labels]\nmap = { a = 3, b = ['x'] }"),
    ("relations", "[relations]\nroles = { Works = ['Person'] }"),
    ("relations", "[relations]\nroles.Works.Arg1 = 'Person'"),
    ("mentions", "match.span = 'exact'"),
    ("mentions", "[match]\nspan = 'exact'\n[match]\nlabel = 'none'"),
    ("mentions", "[labels]\ndeclared = ['A']\n[labels.declared]\nx = 1"),
    ("mentions", "[[scores]]\nprimary = 'micro.f1'"),
    ("mentions", "[match]\nspan = ''"),
    ("mentions", "[match]\nspan = 'Exact'"),
    ("mentions", "[scores]\nundefined = 2"),
    ("mentions", "[scores]\nundefined = true"),
    ("mentions", "[match]\nspan = 'iou'\nthreshold = nan"),
    ("mentions", "[labels]\nfrom = '.'"),
    ("mentions", "[labels]\nfrom = 'binary.conf'"),
    ("mentions", "[labels]\nfrom = 'loop.conf'"),
    ("mentions", "x = " + "[" * 300 + "]" * 300),
]


def declaration(unit: str, rest: str) -> str:
    """The text of a declaration."""
    return f'[task]\nunit = "{unit}"\n{rest}\n' if unit else f"{rest}\n"


def test_every_message_leads_to_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[[Path, str], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in CONFS.items():
        Path(name).write_text(text, "utf-8")
    Path("binary.conf").write_bytes(b"\x00\xff\xfe")
    Path("loop.conf").symlink_to("loop.conf")
    told = []
    for unit, rest in WRONG:
        Path("x.task.toml").write_text(declaration(unit, rest), "utf-8", newline="")
        findings = read_declaration("x.task.toml").findings
        assert findings, rest
        assert all(item.help and item.span for item in findings)
        told += [declaration(unit, rest).rstrip(), ""]
        told += [
            f"    {item.file}{item.position}: {item.severity}[{item.code}]: {item.message}"
            f"\n        {item.help}"
            for item in findings
        ]
        told.append("-" * 20)
    assert len(WRONG) >= 60
    golden(GOLDEN, "\n".join(told) + "\n")

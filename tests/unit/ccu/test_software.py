"""Lines that the format refuses, as pandas reads them for the public scorer, and the verdict."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from hlteval import score, validate
from hlteval.converters import load
from hlteval.converters.ccu.software import WHOLE, as_software
from hlteval.sources import open_source

INDEX = "file_id\tis_processed\tmessage\tfile_path\nD1\ttrue\t\tD1.tab\n"
NORMS = "file_id\tnorm\tstart\tend\tstatus\tllr\n"
CHANGES = "file_id\ttimestamp\tllr\n"


@pytest.fixture
def folder(tmp_path):
    """Writes a submission of one document, from the lines of its file."""

    def write(*lines, header=NORMS):
        (tmp_path / "system_output.index.tab").write_text(INDEX)
        (tmp_path / "D1.tab").write_text(header + "".join(f"{line}\n" for line in lines))
        return str(tmp_path)

    return write


def folder_of(path, files):
    for name, text in files.items():
        target = Path(path) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return path


def read(path):
    (result,) = load("ccu-submission").read(open_source(path))
    return result, as_software(result, result)[1].corpus


def test_lines_without_a_score_are_read_again_in_their_places(folder):
    """Lines 2, 3 and 4 have no finite score; 5 has no number at all, 6 no norm."""
    result, corpus = read(
        folder(
            "D1\t101\t0\t10\tadhere\t1.5",
            "D1\t102\t10\t20\tviolate\t",
            "D1\t103\t20\t30\t\tinf",
            "D1\t104\t30\t40\tadhere",
            "D1\t105\tx\t50\tadhere\t1",
            "D1\t\t50\t60\tadhere\t1",
            "D1\t106\t60\t70\tadhere\t-2.5",
        )
    )
    assert result.corpus.instances["label"].to_list() == ["101", "106"]
    found = corpus.instances.select("row", "label", "start", "end", "status", "llr")
    assert found.rows() == [
        (0, "101", 0.0, 10.0, "adhere", 1.5),
        (1, "102", 10.0, 20.0, "violate", None),
        (2, "103", 20.0, 30.0, None, math.inf),
        (3, "104", 30.0, 40.0, "adhere", None),
        (4, "106", 60.0, 70.0, "adhere", -2.5),
    ]
    assert corpus.instances["document"].unique().to_list() == [0]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("D1\t10\t1", "D1\t20\t-2"), ["llr", "timestamp"]),
        (("D1\t10\t1.0", "D1\t20\t2"), ["timestamp"]),
        (("D1\t10.5\t1", "D1\t20\t"), []),  # a column with an empty cell is one of decimals
        ((), []),
    ],
)
def test_columns_of_whole_numbers_are_named(folder, lines, expected):
    _, corpus = read(folder(*lines, header=CHANGES))
    named = corpus.attributes.filter(element=WHOLE)
    assert sorted(named["name"]) == expected


def test_a_reference_that_is_the_submission_is_read_once(folder):
    (result,) = load("ccu-submission").read(open_source(folder("D1\t101\t0\t10\tadhere\t")))
    reference, system = as_software(result, result)
    assert reference is system


@pytest.mark.parametrize(
    ("line", "crashes"),
    [
        ("7\tD1\tEMPTY_TBD\tEMPTY_TBD\tEMPTY_TBD\tx", True),
        ("7\tD1\t EMPTY_TBD\tpositive\t4\tx", True),
        ("7\tD1\t30\tEMPTY_TBD\t4\tx", False),  # a number all the same
    ],
)
def test_an_unfinished_change_point_makes_the_places_words(folder, line, crashes):
    system = folder("D1\t20\t1.5", header=CHANGES)
    reference = folder_of(
        system + "-gold",
        {
            "docs/segments.tab": "file_id\tsegment_id\tstart\tend\nD1\tD1_1\t0\t100\n",
            "docs/file_info.tab": "file_uid\ttype\tlength\nD1\taudio\t100\n",
            "index_files/x.system_input.index.tab": "file_id\nD1\n",
            "data/changepoint.tab": "user_id\tfile_id\ttimestamp\tdirection_impact"
            f"\tstrength_impact\tevidence\n7\tD1\t20\tpositive\t4\tx\n{line}\n",
        },
    )
    results = {
        profile: score("ccu-cd", reference, system, profile=profile)
        for profile in ("plan", "official")
    }
    assert results["plan"].metrics["cd.ap"] == 1.0
    assert results["official"].metrics["cd.ap"] == (None if crashes else 1.0)


@pytest.mark.parametrize(
    ("line", "plan", "official"),
    [
        ("D1\t101\t0\t10\tadhere\t1.5", True, True),
        ("D1\t101\t0\t10\tadhere\t1", True, False),  # llr must be a column of float64
        ("D1\t101\t0\t10\tadhere\t", False, True),  # NaN to pandas
        ("D1\t101\t0\t10\tadhere\tinf", False, True),
        ("D1\t101\t0\t10\tadhere", False, True),  # pandas fills what is missing at the end
        ("D1\t101\t0\t10", False, False),
        ("D1\t101\tx\t10\tadhere\t1", False, False),
    ],
)
def test_the_verdict_on_a_line(folder, line, plan, official):
    path = folder(line)
    assert validate("ccu-nd", path).passed is plan
    assert validate("ccu-nd", path, profile="official").passed is official

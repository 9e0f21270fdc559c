"""Where pytest finds the shared cases, and which folders it does not walk twice."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A machine may be slow; and where many look at a result, it is the same each time.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

ROOT = Path(__file__).parent
# Four rooms are reached through their links in hlteval/; here they would have no package.
collect_ignore = ["converters", "grammars", "validators", "scoring"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shared",
        type=Path,
        default=ROOT.parent / "shared",
        help="folder of the conformance cases; their tests are skipped where it is absent",
    )
    parser.addoption(
        "--mutations", type=int, default=150, help="damaged files of each format that are tried"
    )
    parser.addoption("--update-golden", action="store_true", help="rewrite the expected outputs")


@pytest.fixture(scope="session")
def shared(request: pytest.FixtureRequest) -> Path:
    """The folder of the conformance cases."""
    folder: Path = request.config.getoption("--shared")
    if not folder.is_dir():
        pytest.skip(f"CONFORMANCE NOT CHECKED: no folder {folder} (give one with --shared)")
    return folder

"""Where pytest finds the shared cases, and which folders it does not walk twice."""

from pathlib import Path

import pytest

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
    parser.addoption("--update-golden", action="store_true", help="rewrite the expected outputs")


@pytest.fixture(scope="session")
def shared(request: pytest.FixtureRequest) -> Path:
    """The folder of the conformance cases."""
    folder: Path = request.config.getoption("--shared")
    if not folder.is_dir():
        pytest.skip(f"CONFORMANCE NOT CHECKED: no folder {folder} (give one with --shared)")
    return folder

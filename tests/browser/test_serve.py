"""The page of `hlteval serve` in a browser, as people use it who never open a terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"
FULL = FIXTURES / "standoff/valid/full"
FLAWED = FIXTURES / "seedev/invalid/SEE205-entity-type"
FRAMES = FIXTURES / "speech-sf/valid/submission.json"
LONG = 60_000
"""Milliseconds for a job on a machine that is busy."""

Enter = Callable[..., Any]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that runs, with its token."""
    command = [sys.executable, "-m", "hlteval", "serve", "--no-browser"]
    with subprocess.Popen(
        command,
        cwd=tmp_path_factory.mktemp("serve"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()
        assert process.wait(60) == 0


@pytest.fixture
def enter(browser: Any, address: str) -> Iterator[Enter]:
    """Opens the page; at the end, nothing may have happened that must not."""
    contexts: list[Any] = []
    trouble: list[str] = []
    origin = address.partition("/?")[0]

    def on_request(request: Any) -> None:
        if not request.url.startswith((f"{origin}/", "data:,")):
            trouble.append(f"request: {request.url}")

    def run(width: int = 1100, scheme: str = "light") -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
        )
        context.set_default_timeout(8_000)
        contexts.append(context)
        page = context.new_page()
        page.on("dialog", lambda dialog: trouble.append(f"dialog: {dialog.message}"))
        page.on("request", on_request)
        page.on("console", lambda message: trouble.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.goto(address)
        page.get_by_label("Task of the submission").wait_for()
        return page

    yield run
    for context in contexts:
        context.close()
    assert trouble == []


def drop(page: Any, zone: str, files: dict[str, bytes]) -> None:
    """Drop files on a zone."""
    transfer = page.evaluate_handle(
        """(files) => {
          const transfer = new DataTransfer();
          for (const [name, text] of files) transfer.items.add(new File([text], name));
          return transfer;
        }""",
        [[name, data.decode()] for name, data in files.items()],
    )
    page.dispatch_event(f"#zone-{zone}", "drop", {"dataTransfer": transfer})


def choose(page: Any, zone: str, path: Path) -> None:
    """Choose a folder or a file."""
    kind = "folder" if path.is_dir() else "file"
    page.set_input_files(f"#{kind}-{zone}", str(path))


def results(page: Any) -> None:
    """Start the work and wait for its end."""
    page.get_by_role("button", name=re.compile("^Check")).click()
    page.get_by_role("heading", name="Results").wait_for(timeout=LONG)


def test_a_file_is_dropped_and_its_findings_are_read(enter):
    page = enter()
    page.get_by_label("Task of the submission").select_option("speech-sf")
    drop(page, "submission", {"run1.json": FRAMES.read_bytes().replace(b"0.", b"7.")})
    assert "run1.json (" in page.inner_text("#chosen-submission")
    results(page)
    assert page.locator(".outcome").inner_text() == "fail"
    report = page.frame_locator("iframe")
    report.get_by_text("run1.json:").first.wait_for()
    assert report.locator("h1").inner_text().startswith("Speech Situation Frames")


def test_scores_and_a_comparison_and_what_is_saved(enter, tmp_path):
    page = enter()
    page.get_by_label("Task of the submission").select_option("seedev-full")
    choose(page, "submission", FULL)
    choose(page, "reference", FULL)
    choose(page, "second", FLAWED)
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("score despite blocking findings").check()
    results(page)
    tabs = page.get_by_role("tab")
    assert tabs.all_inner_texts() == ["Findings", "Findings of the second", "Scores", "Comparison"]
    page.get_by_role("tab", name="Scores").click()
    panel = page.get_by_role("tabpanel")
    assert "1.0000" in panel.inner_text()
    panel.frame_locator("iframe").get_by_text("Signature").first.wait_for()
    page.get_by_role("tab", name="Comparison").click()
    panel.frame_locator("iframe").get_by_text("SEE205-entity-type").first.wait_for()
    with page.expect_download() as saved:
        panel.get_by_text("Comparison as JSON").click()
    comparison = json.loads(saved.value.path().read_text("utf-8"))
    assert [each["name"] for each in comparison["systems"]] == ["full", "SEE205-entity-type"]
    assert saved.value.suggested_filename == "comparison.json"
    with page.context.expect_page() as opened:
        panel.get_by_text("Open in a new tab").click()
    opened.value.get_by_text("SEE205-entity-type").first.wait_for()
    page.get_by_role("button", name="Change files or options").click()
    assert "6 files" in page.inner_text("#chosen-submission")


def test_everything_is_done_with_the_keyboard(enter):
    page = enter()
    page.on("filechooser", lambda _: None)  # from now on, dialogs of files are events
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "task"
    for _ in range(30):
        if page.evaluate("document.activeElement.value") == "speech-sf":
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.wait_for_function("document.activeElement.textContent === 'Choose files'")
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(str(FRAMES))
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim()"))
        if reached[-1].startswith("Check"):
            break
    assert "Options" in reached
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Results").wait_for(timeout=LONG)
    assert page.evaluate("document.activeElement.id") == "title-results"


def test_the_keyboard_changes_tabs(enter):
    page = enter()
    page.get_by_label("Task of the submission").select_option("speech-sf")
    choose(page, "submission", FRAMES)
    choose(page, "reference", FRAMES)
    results(page)
    page.get_by_role("tab", name="Findings").focus()
    for key, name in (("ArrowRight", "Scores"), ("ArrowRight", "Findings"), ("End", "Scores")):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.textContent") == name
        assert page.get_by_role("tab", name=name).get_attribute("aria-selected") == "true"


def test_every_control_has_a_name(enter):
    page = enter()
    for task in page.locator("#task option").all():
        page.get_by_label("Task of the submission").select_option(task.get_attribute("value"))
        page.evaluate("document.getElementById('more').open = true")
        nameless = page.evaluate(
            """[...document.querySelectorAll("button, input, select")].filter((each) =>
              !each.hidden && !each.ariaLabel && !each.labels?.length && !each.textContent.trim())
              .map((each) => each.outerHTML)"""
        )
        assert nameless == []
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_follows_the_colours(enter, scheme):
    page = enter(width=360, scheme=scheme)
    page.get_by_label("Task of the submission").select_option("speech-sf")
    page.get_by_text("Options", exact=True).click()
    wide = "document.documentElement.scrollWidth"
    assert page.evaluate(wide) <= 360
    choose(page, "submission", FRAMES)
    results(page)
    assert page.evaluate(wide) <= 360
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")


def test_what_is_missing_is_said_before_anything_is_sent(enter):
    page = enter()
    page.get_by_label("Task of the submission").select_option("seedev-full")
    page.get_by_role("button", name=re.compile("^Check")).click()
    assert page.get_by_role("alert").inner_text() == "Choose the submission first."
    choose(page, "submission", FLAWED)
    page.get_by_role("button", name=re.compile("^Check")).click()
    assert "Choose the reference" in page.get_by_role("alert").inner_text()


def test_hostile_names_are_only_texts(enter):
    page = enter()
    page.get_by_label("Task of the submission").select_option("speech-sf")
    name = "<img src=x onerror=alert(1)>\u202e.json"
    drop(page, "submission", {name: b"{}"})
    results(page)
    page.frame_locator("iframe").locator("h1").wait_for()
    assert page.locator("img").count() == 0


def test_a_job_can_be_cancelled(enter):
    page = enter()
    page.get_by_label("Task of the submission").select_option("speech-sf")
    choose(page, "submission", FRAMES)
    page.get_by_role("button", name=re.compile("^Check")).click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name=re.compile("^Check")).wait_for()
    assert page.get_by_role("alert").count() == 0
    results(page)


def test_a_second_visit_is_a_session_of_its_own(enter):
    first, second = enter(), enter()
    assert first.url != second.url
    assert "token" not in first.url
    answer = second.request.get(first.url)
    assert answer.status == 403

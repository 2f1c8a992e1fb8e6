"""The playground: its commands, and its page in a real browser, with and without the files of `website.playground`.

The files come from the network, so only `.ci/docs` has them: in the site that SITE names.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.docs.test_layout import visit
from tests.explainer.page.browser import CHROMIUM, Browser
from website.console import COMMANDS
from website.playground import EXAMPLES, FOLDER

PAGE = ROOT / "docs" / "playground.md"
PATIENCE = 120
"""Seconds to wait for Python to start in a browser on a busy machine."""

in_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")


def run(command: str, text: str) -> str:
    """Return what the playground shows, from a process of its own: the limits stay lowered."""
    words = [
        sys.executable,
        "-c",
        "import sys; from website.console import run; print(run(*sys.argv[1:]))",
    ]
    done = subprocess.run(
        [*words, command, text], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout


def test_there_are_ten_examples_and_some_have_findings() -> None:
    texts = [(ROOT / path).read_text(encoding="utf-8") for path in EXAMPLES]
    assert len(set(EXAMPLES.values())) == len(texts) == 10
    assert "error[PTC103 more-processes-than-gpus]" in run("lint", texts[0])


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("lint", "0 errors"),
        ("explain", "\nresources:\n"),
        ("simulate", "\n  processes    "),
        ("compile", "\nkind: Job\n"),
    ],
)
def test_each_command_answers(command: str, output: str) -> None:
    assert output in run(
        command, (ROOT / "golden" / "llm-4x8-efa" / "spec.yaml").read_text(encoding="utf-8")
    )


def test_the_limits_for_untrusted_input_apply() -> None:
    assert "more than 2000 documents" in run("lint", "---\na: 1\n" * 2_001)


def test_the_page_has_a_button_for_each_command() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [command for command in COMMANDS if f'value="{command}">{command}<' not in text] == []
    assert text.count("<button") == len(COMMANDS)


@in_chromium
def test_without_its_files_the_page_says_so(served: str, tab: Browser) -> None:
    tab.call("Network.setBlockedURLs", urls=[f"*{FOLDER}/*"])
    visit(tab, f"{served}playground/", 400)
    wait_for(tab, "status", lambda text: "without the playground" in text)
    assert tab.run("document.getElementById('playground-form').hidden")
    tab.call("Network.setBlockedURLs", urls=[])


@pytest.fixture
def playground(site: Path, served: str, tab: Browser) -> str:
    """Open the page and return the address of the site."""
    if not (site / FOLDER).is_dir():
        pytest.skip("the site was built without the playground")
    visit(tab, f"{served}playground/", 1280)
    wait_for(tab, "example", bool)
    return served


def wait_for(tab: Browser, name: str, accept: Callable[[str], object]) -> str:
    """Return the text of a part of the page, once it is what is waited for."""
    until = time.monotonic() + PATIENCE
    while True:
        watch_workers(tab)
        text: str = tab.run(f"document.getElementById('playground-{name}')?.textContent ?? ''")
        if accept(text) or time.monotonic() > until:
            assert accept(text), (text, tab.errors())
            return text
        time.sleep(0.1)


def watch_workers(tab: Browser) -> None:
    """Record the requests of each new worker that waits for that, and let it start."""
    new = [event for event in tab.events if event.get("method") == "Target.attachedToTarget"]
    tab.events[:] = [event for event in tab.events if event not in new]
    page = tab._tab
    for event in new:
        tab._tab = event["params"]["sessionId"]
        tab.call("Network.enable")
        tab.call("Runtime.runIfWaitingForDebugger")
    tab._tab = page


def command(tab: Browser, name: str) -> str:
    """Press a button and return the output."""
    tab.click(f"#playground-commands button[value={name}]")
    return wait_for(tab, "output", bool)


def choose(tab: Browser, path: str) -> Any:
    """Choose an example and return the text that is then shown."""
    index = list(EXAMPLES).index(path)
    return tab.run(
        f"(() => {{ const list = document.getElementById('playground-example'); list.value = {index};"
        " list.dispatchEvent(new Event('change')); return document.getElementById('playground-input').value; })()"
    )


@in_chromium
def test_examples_run_in_the_browser_and_nothing_is_asked_of_another_host(
    playground: str,
    tab: Browser,
) -> None:
    tab.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
    path = "golden/bad-resources/spec.yaml"
    text = (ROOT / path).read_text(encoding="utf-8")
    assert choose(tab, path) == text
    assert command(tab, "lint").strip() == run("lint", text).strip()
    text = (ROOT / "golden" / "llm-4x8-efa" / "spec.yaml").read_text(encoding="utf-8")
    choose(tab, "golden/llm-4x8-efa/spec.yaml")
    for name in COMMANDS:
        assert command(tab, name).strip() == run(name, text).strip()
    tab.call("Target.setAutoAttach", autoAttach=False, waitForDebuggerOnStart=False, flatten=True)
    asked = tab.asked_for()
    assert f"{playground}{FOLDER}/pyodide.asm.wasm" in asked, "the worker's requests are recorded"
    assert [url for url in asked if not url.startswith((playground, "blob:"))] == []


@in_chromium
def test_pasted_text_is_read_as_text(playground: str, tab: Browser) -> None:
    pasted = "a: <img src=x onerror=document.title=1>\nb: [\ud83d\ude80\n"
    tab.run(f"document.getElementById('playground-input').value = {json.dumps(pasted)}")
    output = command(tab, "lint")
    assert "error[" in output
    assert tab.run("document.querySelectorAll('#playground-form img').length") == 0

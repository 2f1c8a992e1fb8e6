"""The page on this machine: who may read it, and how it is updated.

`ptcompile watch` as a process, in a real browser: the page follows an edit.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import NamedTuple

import pytest

from ptcompile.cli import main
from ptcompile.cli.commands.watch import Live
from tests.conftest import allow_loopback
from tests.explainer.page.browser import CHROMIUM, Browser, browser
from tests.explainer.page.reading import Element, read_html


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow only connections to loopback."""
    allow_loopback(monkeypatch)


@pytest.fixture
def live() -> Iterator[Live]:
    with Live() as page:
        page.show("<p>one</p>")
        yield page


def get(live: Live, path: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, str]:
    connection = HTTPConnection(live.host, timeout=30)
    connection.request(
        method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def test_the_page_loads_the_listing_in_a_frame(live: Live) -> None:
    answer, text = get(live, f"/{live.token}/")
    assert answer.status == 200
    assert "<iframe" in text
    nonce = text.partition('nonce="')[2].partition('"')[0]
    assert f"script-src 'nonce-{nonce}'" in (answer.getheader("Content-Security-Policy") or "")
    assert get(live, f"/{live.token}/page")[1] == "<p>one</p>"
    assert get(live, f"/{live.token}/")[1] != text, "a nonce is used once"


def test_the_server_listens_only_on_this_machine(live: Live) -> None:
    assert live.address.startswith("http://127.0.0.1:")
    assert live._server.socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path", ["/", "/page", "/{}", "/x{}/page", "/{}~/page", "//{}/page", "/%s/page", "/%C3%A9/page"]
)
def test_without_the_token_every_address_is_not_found(live: Live, path: str) -> None:
    answer, text = get(live, path.format(live.token[:-1]))
    assert (answer.status, text) == (404, "no such page\n")


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", "[::1]", ""]
)
def test_no_other_host_is_answered(live: Live, host: str) -> None:
    answer, text = get(live, f"/{live.token}/page", Host=host)
    assert (answer.status, text) == (403, "not this host\n")


def test_two_host_headers_are_rejected(live: Live) -> None:
    connection = HTTPConnection(live.host, timeout=30)
    connection.putrequest("GET", f"/{live.token}/page", skip_host=True)
    for host in (live.host, "evil.example"):
        connection.putheader("Host", host)
    connection.endheaders()
    assert connection.getresponse().status == 403
    connection.close()


def test_no_page_of_another_site_is_answered(live: Live) -> None:
    assert get(live, f"/{live.token}/page", Sec_Fetch_Site="cross-site")[0].status == 403
    assert get(live, f"/{live.token}/page", Sec_Fetch_Site="same-origin")[0].status == 200
    answer = get(live, f"/{live.token}/page")[0]
    assert answer.getheader("Access-Control-Allow-Origin") is None
    assert answer.getheader("Cross-Origin-Resource-Policy") == "same-origin"


@pytest.mark.parametrize("method", ["POST", "PUT", "OPTIONS", "TRACE"])
def test_no_method_but_get_is_answered(live: Live, method: str) -> None:
    assert get(live, f"/{live.token}/page", method)[0].status == 501


def test_tokens_differ() -> None:
    with Live() as one, Live() as other:
        assert one.token != other.token
        assert len(one.token) >= 32


def test_a_change_is_answered_immediately(live: Live) -> None:
    assert get(live, f"/{live.token}/version?0")[1] == "1"
    threading.Timer(0.1, live.show, ["<p>two</p>"]).start()
    start = time.monotonic()
    assert get(live, f"/{live.token}/version?1")[1] == "2"
    assert time.monotonic() - start < 15, "it waits for nothing but the change"
    assert get(live, f"/{live.token}/page")[1] == "<p>two</p>"
    assert get(live, f"/{live.token}/version?{'9' * 5000}")[1] == "2"


def test_watch_ends_while_a_request_waits() -> None:
    with Live() as page:
        page.show("x")
        answers: list[str] = []
        waiting = threading.Thread(
            target=lambda: answers.append(get(page, f"/{page.token}/version?1")[1])
        )
        waiting.start()
        time.sleep(0.3)
    waiting.join(15)
    assert answers == ["1"]


def fetch(address: str) -> str:
    host, _, path = address.removeprefix("http://").partition("/")
    connection = HTTPConnection(host, timeout=30)
    connection.request("GET", f"/{path}")
    text = connection.getresponse().read().decode()
    connection.close()
    return text


SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec:
  image: registry.example.com/train:1
  script: train.py
  nodes: 2
"""
SHOWN = "document.querySelector('iframe')?.contentDocument"


@contextmanager
def watching(
    folder: Path, text: str, target: str | None = "job"
) -> Iterator[tuple[Path, str, subprocess.Popen[bytes]]]:
    """Yield a spec, the address of its page, and the process."""
    spec = folder / "spec.yaml"
    spec.write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "ptcompile",
        "watch",
        str(spec),
        *(["--target", target] if target else []),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert process.stderr is not None
    address = process.stderr.readline().decode().split()[1]
    try:
        yield spec, address, process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Path, str, subprocess.Popen[bytes]]]:
    with watching(tmp_path, SPEC) as running:
        yield running


def until(asked: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if asked():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


class Watched(NamedTuple):
    """The page over HTTP, version by version."""

    spec: Path
    address: str

    def after(self, change: Callable[[], object]) -> Element:
        """Return the page that follows a change."""
        version = fetch(f"{self.address}version?0")
        change()
        for _ in range(10):
            if fetch(f"{self.address}version?{version}") != version:
                return read_html(fetch(f"{self.address}page"))
        raise AssertionError("no new page")

    def write(self, text: str) -> Element:
        return self.after(lambda: self.spec.write_text(text, encoding="utf-8"))


def text_of(page: Element, prefix: str) -> list[str]:
    return [line.find("code").text.strip() for line in page.id(f"{prefix}-lines").all("li")]


def notices(page: Element) -> list[str]:
    return [each.text for each in page.all("p") if each.attributes.get("class") == "notice"]


KEPT = "The manifests and pods are those of the last version that compiled."


@pytest.mark.parametrize(
    ("broken", "line", "code"),
    [
        (SPEC.replace("nodes: 2", "noodes: 2"), 7, "PTC021"),
        (SPEC.replace("nodes: 2", 'nodes: "2'), 7, "PTC001"),
        (SPEC.replace("nodes: 2", "nodes: two"), 7, "PTC023"),
        (f"{SPEC}---\nkind: TrainingJob\n", 9, "PTC0"),
    ],
    ids=["unknown field", "YAML", "type", "second document"],
)
def test_a_broken_spec_keeps_its_last_manifests(
    watched: tuple[Path, str, subprocess.Popen[bytes]], broken: str, line: int, code: str
) -> None:
    live = Watched(*watched[:2])
    good = read_html(fetch(f"{live.address}page"))
    assert notices(good) == []
    page = live.write(broken)
    assert text_of(page, "job") == text_of(good, "job")
    assert "job" in page.id("pods-job").text.lower()
    assert f"spec.yaml:{line}" in notices(page)[0]
    assert notices(page)[0].endswith(KEPT)
    assert code in page.id(f"spec-{line}").text
    assert (
        page.id(f"spec-{line}").find("code").text.strip() == broken.splitlines()[line - 1].strip()
    )
    page = live.write(SPEC.replace("nodes: 2", "nodes: 3"))
    assert notices(page) == []
    assert "completions: 3" in text_of(page, "job")


def test_lines_of_a_broken_spec_are_masked(
    watched: tuple[Path, str, subprocess.Popen[bytes]],
) -> None:
    page = Watched(*watched[:2]).write(
        f"{SPEC}  env:\n    API_TOKEN: hunter2\n    DB_PASSWORD: 'hunter3\n"
    )
    assert text_of(page, "spec") == ["API_TOKEN: ***", "DB_PASSWORD: ***"]
    assert "hunter" not in page.text


def test_a_missing_file_is_reported_and_followed_again(
    watched: tuple[Path, str, subprocess.Popen[bytes]],
) -> None:
    live = Watched(*watched[:2])
    good = read_html(fetch(f"{live.address}page"))
    page = live.after(live.spec.unlink)
    (notice,) = notices(page)
    assert "spec.yaml is gone: it was deleted, moved or renamed." in notice
    assert "PTC009" not in page.text
    for prefix in ("spec", "job"):
        assert text_of(page, prefix) == text_of(good, prefix)
    page = live.write(SPEC.replace("nodes: 2", "nodes: 3"))
    assert notices(page) == []
    assert "completions: 3" in text_of(page, "job")


def test_a_spec_that_never_compiled_has_no_manifests(tmp_path: Path) -> None:
    with watching(tmp_path, SPEC.replace("nodes: 2", "noodes: 2")) as (_, address, _):
        page = read_html(fetch(f"{address}page"))
        assert notices(page) == []
        assert "It does not compile: 1 error, shown at the spec's lines." in page.id("job").text


def _with_element(name: str, action: str) -> str:
    """Return an expression that acts on an element of the shown page once it is there, and says whether it was."""
    return f"(element => element ? ({action}, true) : false)({SHOWN}?.getElementById('{name}'))"


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_the_tab_and_the_scroll_positions_stay(tmp_path: Path) -> None:
    env = "".join(f"    NAME_{i}: value\n" for i in range(60))
    text = f"{SPEC}  env:\n{env}"
    chosen = f"{SHOWN}?.querySelector('.tabs [aria-selected=\"true\"]')?.id"
    top = f"{SHOWN}?.getElementById('jobset-lines')?.scrollTop"
    with watching(tmp_path, text, target=None) as (spec, address, _), browser() as tab:
        tab.call("Page.navigate", url=address)
        until(
            lambda: tab.run(f"{SHOWN}?.readyState") == "complete" and tab.run(chosen) == "tab-job"
        )
        until(lambda: tab.run(_with_element("tab-jobset", "element.click()")))
        until(
            lambda: tab.run(
                _with_element("jobset-lines", "element.scrollTo({top: 300, behavior: 'instant'})")
            )
        )
        for nodes in ("noodes: 2", "nodes: 3"):
            spec.write_text(text.replace("nodes: 2", nodes), encoding="utf-8")
            until(partial(_contains, tab, nodes))
            until(lambda: tab.run(chosen) == "tab-jobset" and tab.run(top) == 300)
        assert not [line for line in tab.errors() if "Security Policy" in line]


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_an_edit_changes_the_page(watched: tuple[Path, str, subprocess.Popen[bytes]]) -> None:
    spec, address, _ = watched
    with browser() as tab:
        tab.call("Page.navigate", url=address)
        until(lambda: "--nnodes=2" in _text(tab))
        spec.write_text(SPEC.replace("nodes: 2", "nodes: 5"), encoding="utf-8")
        until(lambda: "--nnodes=5" in _text(tab))
        assert "--nnodes=2" not in _text(tab)
        spec.write_text(SPEC.replace("nodes: 2", "noodes: 5"), encoding="utf-8")
        until(lambda: "PTC021" in _text(tab))
        note = f"{SHOWN}.querySelector('.note').closest('li').id"
        assert tab.run(note) == "spec-7", "the error is at its line"
        new = spec.with_name("new.yaml")  # as editors save: another file in its place
        new.write_text(SPEC.replace("train:1", "train:2"), encoding="utf-8")
        new.replace(spec)
        until(lambda: "example.com/train:2" in _text(tab))
        assert "PTC021" not in _text(tab)
        tab.call("Runtime.evaluate", expression="1")
        assert not [error for error in tab.errors() if "Security Policy" in error]
        origin = address.rpartition("/")[0].rpartition("/")[0]
        assert {url for url in tab.asked_for() if not url.startswith((origin, "about:"))} == set()


def _contains(tab: Browser, text: str) -> bool:
    return text in _text(tab)


def _text(tab: Browser) -> str:
    shown: str = tab.run(f"({SHOWN} && {SHOWN}.body ? {SHOWN}.body.textContent : '')") or ""
    return shown


def test_ctrl_c_ends_watch(watched: tuple[Path, str, subprocess.Popen[bytes]]) -> None:
    _, _, process = watched
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(30) == 0


def test_sources_that_cannot_be_watched_are_usage_errors(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for words in (["-"], [str(tmp_path / "none.yaml")], [str(tmp_path)]):
        with pytest.raises(
            Exception, match=r"watch needs a file|no such file|not a regular file|is a directory"
        ):
            main(["watch", *words])

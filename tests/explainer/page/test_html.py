"""The page as HTML: its parts, its content security policy and its size."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from ptcompile.diagnostics import Diagnostic
from ptcompile.explainer.page import html
from ptcompile.explainer.page.content import PageFinding
from ptcompile.explainer.page.html import _is_about_target
from ptcompile.operators.targets import TARGETS
from tests.conftest import ROOT
from tests.explainer.page.making import HOSTILE, SIX, example, golden, page, text
from tests.explainer.page.reading import Element, read_html

CASES = {
    "example": example(),
    "six": (SIX, None),
    "hostile": (HOSTILE, None),
    "bad-types": golden("bad-types"),
    "bad-tab": golden("bad-tab"),
    "bad-reserved-env": golden("bad-reserved-env"),
    "env-sources": golden("env-sources"),
    "multi": (f"{SIX}---\n{HOSTILE}---\nkind: TrainingJob\n", None),
}
MOST = 500_000
"""Maximum size in bytes of a page with six targets."""


@functools.cache
def parsed(case: str) -> Element:
    return read_html(text(*CASES[case]))


@pytest.fixture(params=CASES)
def read(request: pytest.FixtureRequest) -> Element:
    return parsed(request.param)


def data(read: Element) -> dict[str, Any]:
    embedded: dict[str, Any] = json.loads(read.id("data").text)
    return embedded


def test_ids_are_unique_and_references_resolve(read: Element) -> None:
    ids = [one.attributes["id"] for one in read.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    for element in read.all():
        for name in ("aria-labelledby", "aria-controls", "for"):
            assert set(element.attributes.get(name, "").split()) <= set(ids)
        target = element.attributes.get("href", "#pod")
        assert target.startswith("data:image/svg+xml,") or target[1:] in ids


def test_the_page_loads_nothing_and_forbids_other_content(read: Element) -> None:
    policy = next(
        one.attributes["content"] for one in read.all("meta") if "http-equiv" in one.attributes
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    style, script = (
        next(read.all("style")),
        [one for one in read.all("script") if "type" not in one.attributes],
    )
    assert len(list(read.all("style"))) == len(script) == 1
    assert rules == {
        "default-src": "'none'",
        "style-src": f"'{digest(style)}'",
        "script-src": f"'{digest(script[0])}'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not {one.name for one in read.all()} & {
        "img",
        "iframe",
        "object",
        "embed",
        "form",
        "base",
        "audio",
        "video",
    }
    for element in read.all():
        assert not [
            name
            for name in element.attributes
            if name.startswith("on") or name in ("src", "style", "action")
        ]
    assert not re.search(r"@import|url\(|https?:", style.text + script[0].text)


def digest(element: Element) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()}"


@pytest.mark.parametrize("case", ["example", "six", "hostile", "bad-types", "env-sources"])
def test_the_spec_is_shown_line_by_line(case: str) -> None:
    read = parsed(case)
    panel = page(*CASES[case]).panels[0]
    assert panel.text is not None
    shown = [next(element.all("code")).text for element in read.id("spec-lines").all("li")]
    assert shown == list(panel.text.lines)


def test_every_target_has_a_tab_lines_and_pods() -> None:
    read = read_html(text(SIX))
    bar = next(element for element in read.all("div") if element.attributes.get("class") == "tabs")
    assert [element.text for element in bar.all("a")] == list(TARGETS)
    for listing in page(SIX).listings:
        shown = [
            next(element.all("code")).text
            for element in read.id(f"{listing.target}-lines").all("li")
        ]
        assert shown == list(listing.text.lines)
        pods = read.id(f"pods-{listing.target}").text
        assert all(f"{pod.display_name}" in pods for pod in listing.world.pods)
        assert "NCCL_DEBUG" in pods
        assert "on failure" in pods
    assert len(list(read.all("svg"))) == len(TARGETS)


def test_the_first_line_of_an_author_shows_the_name() -> None:
    read = read_html(text(*example()))
    for listing in page(*example()).listings:
        if listing.text.lines:
            lines = list(read.id(f"{listing.target}-lines").all("li"))
            named = {element.text for line in lines for element in line.all("i")}
            authors = {reason.by for reason in listing.reasons} - {"spec"}
            assert named == authors
            legend = [element.text for element in read.id(listing.target).all("button")]
            assert sum(int(word.split()[-1]) for word in legend) == len(listing.reasons)
            for reason in listing.reasons:
                assert (
                    lines[reason.first - 1].attributes["class"]
                    == f"a{data(read)['authors'].index(reason.by)}"
                )


def test_the_script_knows_every_reason(read: Element) -> None:
    embedded = data(read)
    for name, reasons in embedded["targets"].items():
        lines = len(list(read.id(f"{name}-lines").all("li"))) if reasons else 0
        for first, last, by, rule, origins in reasons:
            assert 1 <= first <= last <= lines
            assert embedded["authors"][by]
            assert embedded["rules"][rule]
            for file, line, other, strength in origins:
                assert embedded["strengths"][strength]
                assert (
                    read.id(f"{('spec', 'cluster')[file]}-{other}")
                    if line
                    else embedded["words"][other]
                )


def test_findings_appear_below_their_lines() -> None:
    read = read_html(text(*golden("bad-types")))
    line = read.id("spec-10")
    assert "spec.nodes: '2' is not a whole number" in line.text
    assert "PTC023" in line.text
    assert "spec.nodes" not in read.id("spec-11").text


def test_errors_of_every_target_are_shown_once() -> None:
    read = read_html(text(*golden("bad-types")))
    message = "spec.nodes: '2' is not a whole number"
    assert message in read.id("spec-10").text
    for target in TARGETS:
        shown = read.id(target).text
        assert message not in shown
        assert "It does not compile: " in shown
        assert "errors, shown at the spec's lines." in shown


def test_an_error_of_one_target_appears_in_its_tab_and_at_the_line() -> None:
    read = read_html(text(*example()))
    assert "volcano cannot express this job." in read.id("volcano").text
    assert "Volcano has no deadline for jobs" in read.id("volcano").text
    note = next(element for element in read.id("spec-32").all("div"))
    assert note.attributes["data-for"] == "volcano"
    assert "Volcano has no deadline for jobs" in note.text
    assert "refused" in read.id("tab-volcano").text
    assert "refused" not in read.id("tab-job").text


def test_a_finding_about_a_mapping_appears_at_its_key() -> None:
    read = read_html(text(*golden("gang-scheduler-plugins")))
    at = golden("gang-scheduler-plugins")[0].splitlines().index("spec:") + 1
    assert "Volcano places the pods of its Jobs itself" in read.id(f"spec-{at}").text


def test_a_finding_of_every_target_is_shown_for_every_target() -> None:
    read = read_html(text(SIX.replace("nodes: 1", "nodes: 1\n  spot: true")))
    note = next(element for element in read.id("spec-9").all("div"))
    assert "spot" in note.text
    assert "data-for" not in note.attributes


def test_profile_findings_appear_at_the_profile() -> None:
    spec, cluster = example()
    made = page(spec, cluster.replace('"1.34"', '"1.94"'))
    assert {
        finding.file for finding in made.findings if finding.diagnostic.filename == "cluster.yaml"
    } <= {"cluster"}


def test_file_content_stays_text() -> None:
    read = read_html(text(HOSTILE))
    calm = {element.name for case in ("example", "six") for element in parsed(case).all()}
    assert {element.name for element in read.all()} <= calm
    assert len(list(read.all("script"))) == 2
    evil = "</script><script>window.hacked=3</script><img src=x onerror=window.hacked=4>"
    assert f'EVIL: "{evil}"' in read.id("spec-12").text
    assert "&lt;b&gt; ]]> -->" in read.id("spec-13").text
    assert "window.hacked=1" in read.id("job-lines").text


def test_invisible_characters_are_shown() -> None:
    hidden = "\u202e\u200b\ue000\ufeff"
    made = text(SIX.replace("# no comment", f"# no{hidden}comment"))
    for char in hidden:
        assert char not in made, ascii(char)
        assert char.encode("unicode_escape").decode() in made


def test_a_file_name_is_text_too() -> None:
    from tests.making import gather

    made = html(gather(SIX, filename="</script><b>x\x1b.yaml", target="pod"))
    assert data(read_html(made))["files"] == ["</script><b>x\\x1b.yaml"]
    assert not set("<>&\u2028\u2029") & set(read_html(made).id("data").text)
    assert "<b>x" not in made
    assert "\x1b" not in made
    assert "&lt;/script&gt;&lt;b&gt;x\\x1b.yaml" in made


def test_the_page_contains_no_secret() -> None:
    for spec in (HOSTILE, HOSTILE.replace("nodes: 2", "nodes: two")):
        assert "hunter2" not in text(spec)
        assert "several-secret" not in text(spec)
    refused = HOSTILE.replace('"hunter2-the-secret"', "123456789")
    assert "API_TOKEN" in text(refused)
    assert "123456789" not in text(refused)


def test_of_an_unreadable_file_only_the_lines_with_errors_are_shown() -> None:
    broken = HOSTILE + "  image: twice\n"
    read = read_html(text(broken))
    assert "hunter2" not in text(broken)
    assert "its other lines are not shown" in read.text
    number = len(broken.splitlines())
    shown = [
        (line.attributes["id"], line.attributes["data-line"])
        for line in read.id("spec-lines").all("li")
    ]
    assert shown[-2:] == [(f"spec-{line}", str(line)) for line in (number - 1, number)]
    assert len(shown) < number
    assert "duplicate" in read.id(f"spec-{number}").text


@pytest.mark.parametrize("quote", ["'", '"'])
def test_the_line_before_an_error_is_masked(quote: str) -> None:
    read = read_html(
        text(HOSTILE.partition("    DB_PASSWORD")[0] + f"    DB_PASSWORD: {quote}hunter3\n")
    )
    assert [line.find("code").text.split() for line in read.id("spec-lines").all("li")] == [
        ["API_TOKEN:", "***"],
        ["DB_PASSWORD:", "***"],
    ]
    assert "hunter" not in read.text


def test_six_targets_are_less_than_500_kilobytes() -> None:
    env = "".join(
        f'    SOME_VARIABLE_{i}: "some value of a length that people write {i}"\n'
        for i in range(40)
    )
    made = text(SIX.replace("    NCCL_DEBUG", f"{env}    NCCL_DEBUG"))
    assert all(listing.text.lines for listing in page(SIX).listings)
    assert len(text(SIX).encode()) < MOST / 3
    assert len(made.encode()) < MOST


def test_another_process_gives_the_same_bytes() -> None:
    code = "import sys; from tests.explainer.page.making import *; sys.stdout.buffer.write(text(*example()).encode())"
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "7",
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=env, check=True, cwd="/"
    )
    assert done.stdout == text(*example()).encode()


def test_a_page_of_one_target_has_only_its_pane() -> None:
    made = page(SIX, target="volcano")
    assert made.targets == ("volcano",)
    assert made.chosen == "volcano"
    panes = [
        element.attributes["id"] for element in read_html(text(SIX, target="volcano")).all("ol")
    ]
    assert panes == ["spec-lines", "volcano-lines"]


@pytest.mark.parametrize(
    ("targets", "name", "expected"),
    [
        (("job",), "unsupported-by-target", True),
        (("job", "pod"), "unsupported-by-target", True),
        (("job",), "idle-gpus", True),
        (("job", "pod"), "idle-gpus", False),
    ],
)
def test_a_finding_of_one_target_is_about_it(
    targets: tuple[str, ...], name: str, expected: bool
) -> None:
    diagnostic = Diagnostic("PTC104", name, "error", "x", None, (), None, "run", "torchrun")
    assert _is_about_target(PageFinding(diagnostic, targets, "spec", 1)) is expected

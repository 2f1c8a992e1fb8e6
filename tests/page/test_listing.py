"""The lines of the manifests and of the files, and which belong together."""

from __future__ import annotations

import re

import pytest

from ptcompile.documents import emit
from ptcompile.page.code import authors_of
from ptcompile.page.model import Listing
from ptcompile.secrets.structure import without_secrets
from tests.page.making import HOSTILE, SIX, example, golden, page
from tests.page.reference import kin

CASES = {
    "example": example(),
    "six": (SIX, None),
    "hostile": (HOSTILE, None),
    "awkward-text": golden("awkward-text"),
    "parameter-server": golden("parameter-server"),
    "fabric-efa": golden("fabric-efa"),
}


def listings(case: str) -> list[Listing]:
    return [one for one in page(*CASES[case]).listings if one.text.lines]


@pytest.mark.parametrize("case", CASES)
def test_the_lines_are_what_compile_writes_with_secrets_masked(case: str) -> None:
    found = listings(case)
    assert found
    for one in found:
        written = emit.emit_all([without_secrets(manifest) for manifest in one.explanation.manifests])
        assert "\n".join([*one.text.lines, ""]) == written


@pytest.mark.parametrize("case", CASES)
def test_lines_belong_together_as_the_causes_say(case: str) -> None:
    spec, cluster = CASES[case]
    for one in listings(case):
        down, up = kin(spec, cluster, one.target)
        made: dict[str, set[str]] = {}
        for reason in one.reasons:
            for origin in reason.origins:
                for line in range(origin.first, origin.last + 1) if origin.first else ():
                    for number in range(reason.first, reason.last + 1):
                        made.setdefault(f"{origin.file}-{line}", set()).add(f"{one.target}-{number}")
        assert made == dict(down)
        assert len(up) > 5


@pytest.mark.parametrize("case", CASES)
def test_every_line_with_a_value_has_one_reason_with_the_cause_s_author(case: str) -> None:
    for one in listings(case):
        assert [reason.by for reason in one.reasons] == [cause.by for cause in one.explanation.causes]
        assert [reason.rule for reason in one.reasons] == [cause.rule for cause in one.explanation.causes]
        covered = [line for reason in one.reasons for line in range(reason.first, reason.last + 1)]
        assert len(covered) == len(set(covered))
        for line in set(range(1, len(one.text.lines) + 1)) - set(covered):
            assert one.text.lines[line - 1].rstrip(" -").endswith(":") or one.text.lines[line - 1] == "---"


def test_a_key_belongs_to_the_author_of_all_that_it_holds() -> None:
    one = next(one for one in page(SIX).listings if one.target == "job")
    authors = {one.text.lines[number - 1].strip(): by for number, by in authors_of(one).items()}
    assert authors["resources:"] == authors["requests:"] == "resources"
    assert authors["env:"] == "spec"
    assert "spec:" not in authors
    assert "volumes:" not in authors


def test_what_goes_on_over_lines_has_no_keys() -> None:
    panel = page(SIX).panels[0]
    assert panel.text is not None
    inside = [panel.text.lines[number - 1].strip() for number in sorted(panel.text.inside)]
    assert inside == ["key: no key", "# no comment"]


def test_what_nobody_wrote_is_said_in_words() -> None:
    one = next(one for one in page(SIX).listings if one.target == "job")
    words = {origin.words for reason in one.reasons for origin in reason.origins if not origin.first}
    assert "the built-in profile: spec.gpu.resourceName: nvidia.com/gpu" in words
    profile = 'kind: ClusterProfile\nspec: {versions: {kubernetes: "1.34"}}\n'
    one = next(one for one in page(SIX, profile).listings if one.target == "job")
    words = {origin.words for reason in one.reasons for origin in reason.origins if not origin.first}
    assert "the profile's default: spec.gpu.resourceName: nvidia.com/gpu" in words


def test_no_secret_is_in_a_page_s_text() -> None:
    made = page(HOSTILE)
    assert made.panels[0].text is not None
    shown = str([made.panels, made.findings, [(one.text, one.reasons) for one in made.listings]])
    shown += str([pod.env for one in made.listings for pod in one.world.pods])
    assert not re.search("hunter2|several-secret|lines-of-secret", shown)
    assert "    API_TOKEN: ***" in made.panels[0].text.lines

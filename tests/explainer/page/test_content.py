"""The content of a page for any input.

The lines of the manifests and of the input files, and which lines belong together.
"""

from __future__ import annotations

import json
import re
import time

import pytest
import yaml

from ptcompile._internal.limits import UNTRUSTED
from ptcompile.explainer.page import html
from ptcompile.explainer.page.content import Listing
from ptcompile.explainer.page.html import authors_of
from ptcompile.operators.targets import TARGETS
from ptcompile.source import emitter
from ptcompile.source.secrets.scanner import without_secrets
from tests.explainer.page.making import HOSTILE, SIX, example, golden, page, text
from tests.explainer.page.reading import read_html
from tests.explainer.page.reference import kin
from tests.making import gather

SMALL = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: small}
spec:
  image: registry.example.com/train:1.2
  script: train.py
  args: [--epochs, "3"]
  env:
    NCCL_DEBUG: INFO
    NOTE: |
      key: no key
      # no comment
"""
ODD: dict[str, str | bytes] = {
    "nothing": "",
    "a nul": "\x00",
    "a list": "- a\n",
    "a brace": "{",
    "UTF-16": SMALL.encode("utf-16"),
    "no UTF-8": b"\xff" + SMALL.encode(),
    "an alias of itself": "a: &a [*a]\n",
    "no newline at the end": SMALL.rstrip("\n"),
    "a byte order mark": "\ufeff" + SMALL,
    "carriage returns": SMALL.replace("\n", "\r\n"),
    "JSON": json.dumps(yaml.safe_load(SMALL)),
    "JSON on lines": json.dumps(yaml.safe_load(SMALL), indent=2),
    "a secret that is a list": HOSTILE.replace('"hunter2-the-secret"', "[hunter2]"),
    "an anchor": HOSTILE.replace("EVIL: ", "EVIL: &e ").replace('"hunter2-the-secret"', "*e"),
    "only comments": "# nothing\n",
    "a profile": example()[1],
    "a long line": SMALL.replace("epochs", "e" * 20_000),
}


@pytest.mark.parametrize("case", ODD)
def test_any_input_gives_a_page(case: str) -> None:
    made = page(ODD[case])
    read = read_html(text(ODD[case]))
    assert len(made.listings) == 6
    able = [listing.target for listing in made.listings if listing.text.lines]
    assert bool(able) != any(
        finding.diagnostic.severity == "error"
        for finding in made.findings
        if len(finding.targets) == 6
    )
    assert read.id("spec-title").text == "Spec spec.yaml"


@pytest.mark.parametrize(
    "case", ["no newline at the end", "a byte order mark", "carriage returns", "JSON on lines"]
)
def test_other_notations_have_lines_too(case: str) -> None:
    spec = ODD[case]
    assert isinstance(spec, str)
    made = page(spec)
    assert made.panels[0].text is not None
    assert len(made.panels[0].text.lines) == len(spec.rstrip("\n").split("\n"))
    down, _ = kin(spec.removeprefix("\ufeff"), None, made.chosen)
    listing = next(one for one in made.listings if one.target == made.chosen)
    lines = {
        f"spec-{origin.first}"
        for reason in listing.reasons
        for origin in reason.origins
        if origin.first
    }
    assert lines <= set(down)
    assert len(lines) > 5


def test_the_page_shows_the_target_that_compile_chooses() -> None:
    assert page(SIX).chosen == "pod"
    assert page(SIX.replace("  nodes: 1", "  nodes: 1\n  target: trainjob")).chosen == "trainjob"
    assert page(HOSTILE).chosen == "job"


def test_the_target_line_of_the_spec_is_the_origin_of_values() -> None:
    spec = SIX.replace("  nodes: 1", "  nodes: 1\n  target: trainjob")
    listing = next(one for one in page(spec).listings if one.target == "trainjob")
    kind = next(
        reason
        for reason in listing.reasons
        if listing.text.lines[reason.first - 1] == "kind: TrainJob"
    )
    assert [(origin.first, origin.strength) for origin in kind.origins] == [(9, "value")]


def test_a_fallback_from_the_first_target_is_not_an_error() -> None:
    made = page(SIX.replace("  nodes: 1", "  nodes: 1\n  runPolicy: {cleanPodPolicy: All}"))
    assert made.chosen == "pytorchjob"
    assert not [diagnostic for diagnostic in made.diagnostics if diagnostic.severity == "error"]
    assert {target for finding in made.findings for target in finding.targets} == set(TARGETS) - {
        "pytorchjob"
    }


def test_the_page_is_named_after_its_jobs_or_file() -> None:
    assert page(f"{SIX}---\n{HOSTILE}").name == "six, hostile"
    assert page("kind: TrainingJob\n").name == "spec.yaml"


def test_a_bad_profile_gives_no_listings() -> None:
    made = gather(SIX, cluster="kind: ClusterProfile\nspec: {gpus: 1}\n")
    assert made.listings == ()
    assert [diagnostic.filename for diagnostic in made.diagnostics] == ["cluster.yaml"]


MANY = json.dumps(dict.fromkeys(map(str, range(100)), "b"))


@pytest.mark.parametrize(
    "more",
    [
        f"  roles:\n    a: &a {{replicas: 1, command: [a], env: {MANY}}}\n"
        + "".join(f"    r{n}: *a\n" for n in range(25)),
        "  env:\n" + "".join(f"    A{n}: b\n" for n in range(2500)),
        "  setup: |\n" + "    echo\n" * 2500,
        f"  setup: {'echo ' * 300_000}\n",
    ],
    ids=["aliases", "values", "lines", "characters"],
)
def test_a_spec_above_the_limit_is_rejected_quickly(more: str) -> None:
    spec = SMALL.partition("  env:")[0] + more
    start = time.process_time()
    made = gather(spec, filename="a.yaml")
    assert time.process_time() - start < 1
    (diagnostic,) = made.diagnostics
    assert (diagnostic.name, diagnostic.severity, diagnostic.filename) == (
        "too-large",
        "error",
        "a.yaml",
    )
    assert (
        diagnostic.message
        == "the spec and its profile have more than 2,500 values and lines of texts for one page"
    )
    assert made.listings == ()
    assert diagnostic.message in html(made)
    assert gather(SMALL, cluster=spec).diagnostics[0].name == "too-large"


def test_untrusted_input_has_a_lower_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = SMALL + "".join(f"    A{n}: b\n" for n in range(500))
    monkeypatch.setattr("ptcompile._internal.limits._in_force", [UNTRUSTED])
    assert gather(spec).diagnostics[0].name == "too-large"


CASES = {
    "example": example(),
    "six": (SIX, None),
    "hostile": (HOSTILE, None),
    "awkward-text": golden("awkward-text"),
    "parameter-server": golden("parameter-server"),
    "fabric-efa": golden("fabric-efa"),
}


def listings(case: str) -> list[Listing]:
    return [listing for listing in page(*CASES[case]).listings if listing.text.lines]


@pytest.mark.parametrize("case", CASES)
def test_listings_equal_the_output_of_compile_with_masked_secrets(case: str) -> None:
    shown = listings(case)
    assert shown
    for listing in shown:
        written = emitter.emit_all(
            [without_secrets(manifest) for manifest in listing.explanation.manifests]
        )
        assert "\n".join([*listing.text.lines, ""]) == written


@pytest.mark.parametrize("case", CASES)
def test_related_lines_follow_the_causes(case: str) -> None:
    spec, cluster = CASES[case]
    for listing in listings(case):
        down, up = kin(spec, cluster, listing.target)
        made: dict[str, set[str]] = {}
        for reason in listing.reasons:
            for origin in reason.origins:
                for line in range(origin.first, origin.last + 1) if origin.first else ():
                    for number in range(reason.first, reason.last + 1):
                        made.setdefault(f"{origin.file}-{line}", set()).add(
                            f"{listing.target}-{number}"
                        )
        assert made == dict(down)
        assert len(up) > 5


@pytest.mark.parametrize("case", CASES)
def test_every_value_line_has_one_reason_with_the_author_of_its_cause(case: str) -> None:
    for listing in listings(case):
        assert [reason.by for reason in listing.reasons] == [
            cause.by for cause in listing.explanation.causes
        ]
        assert [reason.rule for reason in listing.reasons] == [
            cause.rule for cause in listing.explanation.causes
        ]
        covered = [
            line for reason in listing.reasons for line in range(reason.first, reason.last + 1)
        ]
        assert len(covered) == len(set(covered))
        for line in set(range(1, len(listing.text.lines) + 1)) - set(covered):
            assert (
                listing.text.lines[line - 1].rstrip(" -").endswith(":")
                or listing.text.lines[line - 1] == "---"
            )


def test_a_key_belongs_to_the_common_author_of_its_content() -> None:
    listing = next(one for one in page(SIX).listings if one.target == "job")
    authors = {
        listing.text.lines[number - 1].strip(): by for number, by in authors_of(listing).items()
    }
    assert authors["resources:"] == authors["requests:"] == "resources"
    assert authors["env:"] == "spec"
    assert "spec:" not in authors
    assert "volumes:" not in authors


def test_continuation_lines_have_no_keys() -> None:
    panel = page(SIX).panels[0]
    assert panel.text is not None
    inside = [panel.text.lines[number - 1].strip() for number in sorted(panel.text.inside)]
    assert inside == ["key: no key", "# no comment"]


def test_origins_without_a_line_are_described_in_words() -> None:
    listing = next(one for one in page(SIX).listings if one.target == "job")
    words = {
        origin.words for reason in listing.reasons for origin in reason.origins if not origin.first
    }
    assert "the built-in profile: spec.gpu.resourceName: nvidia.com/gpu" in words
    profile = 'kind: ClusterProfile\nspec: {versions: {kubernetes: "1.34"}}\n'
    listing = next(one for one in page(SIX, profile).listings if one.target == "job")
    words = {
        origin.words for reason in listing.reasons for origin in reason.origins if not origin.first
    }
    assert "the profile's default: spec.gpu.resourceName: nvidia.com/gpu" in words


def test_page_text_contains_no_secret() -> None:
    made = page(HOSTILE)
    assert made.panels[0].text is not None
    shown = str(
        [made.panels, made.findings, [(listing.text, listing.reasons) for listing in made.listings]]
    )
    shown += str([pod.env for listing in made.listings for pod in listing.world.pods])
    assert not re.search("hunter2|several-secret|lines-of-secret", shown)
    assert "    API_TOKEN: ***" in made.panels[0].text.lines

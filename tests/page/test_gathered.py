"""What a page is made of, whatever was given."""

from __future__ import annotations

import json
import time

import pytest
import yaml

from ptcompile.limits import UNTRUSTED
from ptcompile.operators.targets import TARGETS
from ptcompile.page import gather, html
from tests.page.making import HOSTILE, SIX, example, page, text
from tests.page.reading import read_html
from tests.page.reference import kin

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
def test_whatever_is_given_gives_a_page(case: str) -> None:
    made = page(ODD[case])
    read = read_html(text(ODD[case]))
    assert len(made.listings) == 6
    able = [one.target for one in made.listings if one.text.lines]
    assert bool(able) != any(one.diagnostic.severity == "error" for one in made.findings if len(one.targets) == 6)
    assert read.id("spec-title").text == "Spec spec.yaml"


@pytest.mark.parametrize("case", ["no newline at the end", "a byte order mark", "carriage returns", "JSON on lines"])
def test_other_ways_to_write_it_have_their_lines_too(case: str) -> None:
    spec = ODD[case]
    assert isinstance(spec, str)
    made = page(spec)
    assert made.panels[0].text is not None
    assert len(made.panels[0].text.lines) == len(spec.rstrip("\n").split("\n"))
    down, _ = kin(spec.removeprefix("\ufeff"), None, made.chosen)
    listing = next(one for one in made.listings if one.target == made.chosen)
    lines = {f"spec-{origin.first}" for one in listing.reasons for origin in one.origins if origin.first}
    assert lines <= set(down)
    assert len(lines) > 5


def test_the_target_that_is_shown_is_the_one_that_compile_takes() -> None:
    assert page(SIX).chosen == "pod"
    assert page(SIX.replace("  nodes: 1", "  nodes: 1\n  target: trainjob")).chosen == "trainjob"
    assert page(HOSTILE).chosen == "job"


def test_the_spec_s_own_choice_is_a_line_that_values_came_from() -> None:
    spec = SIX.replace("  nodes: 1", "  nodes: 1\n  target: trainjob")
    listing = next(one for one in page(spec).listings if one.target == "trainjob")
    kind = next(one for one in listing.reasons if listing.text.lines[one.first - 1] == "kind: TrainJob")
    assert [(origin.first, origin.strength) for origin in kind.origins] == [(9, "value")]


def test_where_the_first_choice_refuses_another_target_is_no_error() -> None:
    made = page(SIX.replace("  nodes: 1", "  nodes: 1\n  runPolicy: {cleanPodPolicy: All}"))
    assert made.chosen == "pytorchjob"
    assert not [one for one in made.diagnostics if one.severity == "error"]
    assert {one for found in made.findings for one in found.targets} == set(TARGETS) - {"pytorchjob"}


def test_the_name_is_that_of_the_jobs_or_of_the_file() -> None:
    assert page(f"{SIX}---\n{HOSTILE}").name == "six, hostile"
    assert page("kind: TrainingJob\n").name == "spec.yaml"


def test_a_bad_profile_leaves_nothing_to_show() -> None:
    made = gather(SIX, cluster="kind: ClusterProfile\nspec: {gpus: 1}\n")
    assert made.listings == ()
    assert [one.filename for one in made.diagnostics] == ["cluster.yaml"]


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
def test_a_spec_above_the_limit_is_refused_at_once(more: str) -> None:
    spec = SMALL.partition("  env:")[0] + more
    start = time.process_time()
    made = gather(spec, filename="a.yaml")
    assert time.process_time() - start < 1
    (found,) = made.diagnostics
    assert (found.name, found.severity, found.filename) == ("too-large", "error", "a.yaml")
    assert found.message == "the spec and its profile have more than 2,500 values and lines of texts for one page"
    assert made.listings == ()
    assert found.message in html(made)
    assert gather(SMALL, cluster=spec).diagnostics[0].name == "too-large"


def test_input_of_strangers_has_a_lower_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = SMALL + "".join(f"    A{n}: b\n" for n in range(500))
    monkeypatch.setattr("ptcompile.limits._in_force", [UNTRUSTED])
    assert gather(spec).diagnostics[0].name == "too-large"

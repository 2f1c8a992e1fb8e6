"""The shared budget: input over a limit quickly gives the finding `too-large`, not minutes of work or a MemoryError."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

import ptcompile
from ptcompile._internal import limits
from ptcompile._internal.limits import TRUSTED, UNTRUSTED
from ptcompile.apiserver.kinds import versions
from ptcompile.apiserver.structure import structure_violations
from tests import growing as many
from tests.counting import steps
from tests.making import text

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n    image: a:1\n"
SMALL = limits.Limits(characters=20_000, lines=900, documents=50, findings=60, roles=8, comments=40)

OVER: dict[str, tuple[str, str]] = {
    "lines": ("\n" * 901, "more than 900 lines"),
    "empty documents": ("---\n#\n" * 51, "more than 50 documents"),
    "separators alone": ("---\n" * 51, "more than 50 documents"),
    "separators with words": ("--- x\n" * 51, "more than 50 documents"),
    "JSON documents": ('{"apiVersion": "v1", "kind": "Pod"}\n' * 51, "more than 50 documents"),
    "JSON documents on one line": ("{} " * 51, "more than 50 documents"),
    "findings": (POD + "".join(f"    bad{i}: 1\n" for i in range(70)), "more than 60 findings"),
    "comments": (POD + "  # ptcompile: ignore[PTC501]" * 41, "more than 40 names in comments"),
    "names in a comment": (
        POD + f"  # ptcompile: ignore[{','.join(f'x{i}' for i in range(41))}]",
        "more than 40 names",
    ),
    "tasks": (many.tasks(9, "svc: []"), "more than 8 tasks"),
    "roles": (many.spec_roles(9), "more than 8 roles"),
}


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    """Apply limits that a test reaches quickly."""
    before = limits._in_force[0]
    limits._in_force[0] = SMALL
    yield
    limits._in_force[0] = before


@pytest.mark.parametrize("name", OVER)
def test_input_over_a_limit_gives_a_finding(name: str) -> None:
    text, advice = OVER[name]
    diagnostics = ptcompile.lint(text).diagnostics
    large = [diagnostic for diagnostic in diagnostics if diagnostic.name == "too-large"]
    assert any(advice in one.message for one in large), [
        diagnostic.message for diagnostic in diagnostics
    ][:5]
    assert all(one.span is not None for one in large)
    assert len(diagnostics) <= SMALL.findings + 1


@pytest.mark.parametrize(
    "verb", [ptcompile.simulate, ptcompile.compile], ids=["simulate", "compile"]
)
def test_other_verbs_have_the_same_limits(
    verb: Callable[..., ptcompile.World | ptcompile.Result],
) -> None:
    for name in ("lines", "empty documents", "JSON documents"):
        assert any(diagnostic.name == "too-large" for diagnostic in verb(OVER[name][0]).diagnostics)


WRONG = f"{text('image: a:1')}  nods: 2\n---\n" * 10
"""Ten specs with one finding each."""
UNFIT = f"{POD}    bad: 1\n---\n" * 10
KEPT = ptcompile.compile(
    text('image: a:1\nscript: t.py\nnodes: 2\nrunPolicy: {cleanPodPolicy: "None"}'),
    target="pytorchjob",
).yaml()
"""A job with a field that the other kind cannot express."""
_PROFILE = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec:\n"
UNKNOWN_FIELDS = _PROFILE + "".join(f"  unknown{n}: 1\n" for n in range(10))
REPEATED_KEYS = _PROFILE + "  cloud: eks\n" * 11
CAPPED: dict[str, Callable[[], Sequence[ptcompile.Diagnostic]]] = {
    "compile": lambda: ptcompile.compile(WRONG).diagnostics,
    "compile, without rules": lambda: ptcompile.compile(WRONG, lint=False).diagnostics,
    "compile, of the profile": lambda: (
        ptcompile.compile(text("image: a:1"), cluster=UNKNOWN_FIELDS).diagnostics
    ),
    "compile, of the profile's text": lambda: (
        ptcompile.compile(text("image: a:1"), cluster=REPEATED_KEYS).diagnostics
    ),
    "explain": lambda: ptcompile.explain(WRONG).diagnostics,
    "explain, of the profile": lambda: (
        ptcompile.explain(text("image: a:1"), cluster=UNKNOWN_FIELDS).diagnostics
    ),
    "simulate": lambda: ptcompile.simulate(WRONG).diagnostics,
    "requires": lambda: ptcompile.requires(WRONG).diagnostics,
    "platform": lambda: ptcompile.platform(specs=[WRONG]).diagnostics,
    "diff": lambda: ptcompile.diff(text("image: a:1\nscript: t.py"), WRONG).diagnostics,
    "lint": lambda: ptcompile.lint(UNFIT).diagnostics,
    "import": lambda: ptcompile.import_manifests(UNFIT).diagnostics,
    "convert": lambda: ptcompile.convert(UNFIT, target="job").diagnostics,
    "convert, of what is read": lambda: (
        ptcompile.convert(f"{KEPT}---\n" * 10, target="job").diagnostics
    ),
}


@pytest.mark.parametrize("verb", CAPPED)
def test_no_verb_reports_more_findings_than_the_budget(verb: str) -> None:
    assert len(CAPPED[verb]()) >= 10, "the case is too small"
    limits._in_force[0] = SMALL._replace(findings=5)
    diagnostics = CAPPED[verb]()
    assert len(diagnostics) == 6
    assert "more than 5 findings" in diagnostics[-1].message


def test_objects_that_are_not_simulated_are_named() -> None:
    world = ptcompile.simulate(many.tasks(9, "svc: []"))
    assert not world.jobs
    assert world.skipped == ("Job/j",)
    assert [diagnostic.name for diagnostic in world.diagnostics] == ["too-large"]
    assert ptcompile.simulate(many.tasks(9)).jobs, "without svc no pod names the others"
    assert ptcompile.diff(many.tasks(9, "svc: []"), many.tasks(10, "svc: []")).differs


def test_input_within_the_limits_has_no_finding() -> None:
    assert not [
        diagnostic
        for diagnostic in ptcompile.lint(POD + "---\n#\n" * 40).diagnostics
        if diagnostic.name == "too-large"
    ]


def test_untrusted_input_has_lower_limits() -> None:
    assert all(less < usual for less, usual in zip(UNTRUSTED, TRUSTED, strict=True))


def test_comments_on_one_line_are_not_quadratic() -> None:
    """4,000 comments after as many findings on one line: each comment covers all of them."""
    limits._in_force[0] = TRUSTED

    def text(n: int) -> str:
        fields = ", ".join(f"bad{i}: 1" for i in range(n))
        head = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a:1, "
        return f"{head}{fields}}}]}}" + " # ptcompile: ignore[PTC501]" * n

    texts = [text(size) for size in (50, 50, 100, 200)]
    assert len(ptcompile.lint(texts[0]).meant) == 50
    _, once, twice, more = (steps(lambda one=one: ptcompile.lint(one)) for one in texts)  # type: ignore[misc]
    assert (more - twice) / (twice - once) < 2.3


def test_hints_are_computed_only_for_reported_findings() -> None:
    """Hints for 50,000 unknown fields took 10 s. The findings stay, because others may be ignored."""
    container = {"name": "a", "image": "a:1", **{f"{'_' * n}command": 1 for n in range(1, 63)}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [container]},
    }
    faults = structure_violations(pod, ("v1", "Pod"), versions()[-1])
    assert len(faults) == SMALL.findings + 2
    helps = [fault.help for fault in faults]
    assert helps == ['did you mean "command"?'] * 60 + ["remove it, or check where it belongs"] * 2


def test_a_fix_applies_also_what_a_report_does_not_list() -> None:
    fixed = ptcompile.fix(many.suspended_trainjobs(40).encode(), unsafe=True)
    assert len(fixed.applied) == 80
    assert fixed.skipped == ()
    assert limits.limits() is SMALL


def test_the_report_of_a_fixed_text_is_within_the_limit() -> None:
    fixed = ptcompile.fix(many.bad_keys(100))
    assert len(fixed.report.diagnostics) == SMALL.findings + 1
    assert fixed.report.diagnostics[-1].name == "too-large"

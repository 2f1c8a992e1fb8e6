"""Untrusted patterns: matched in linear time, or not at all."""

from __future__ import annotations

import sys

import pytest

import ptcompile
from ptcompile.apiserver import goregex
from ptcompile.apiserver.goregex import compile_search, matches, unmatchable_patterns

HOSTILE = [
    r"^(a+)+$",
    r"^(a|a)*$",
    r"^(a*)*b",
    r"(.*)*\d",
    r"a*a*a*a*a*a*a*b",
    r"(a|aa)+$",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
]
TEXT = "a" * 5000 + "!"
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.a.io}
spec:
  group: a.io
  names: {kind: Foo, plural: foos}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              a: {type: string, pattern: '%s'}
              b: {type: string, not: {pattern: '%s'}}
              c: {type: string, x-kubernetes-validations: [{rule: "self.find('%s') == ''"}]}
---
apiVersion: a.io/v1
kind: Foo
metadata: {name: x}
spec: {a: %s, b: %s, c: %s}
"""


@pytest.fixture(params=["re2", "re"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test with and without google-re2."""
    if request.param == "re":
        monkeypatch.setitem(sys.modules, "re2", None)
    else:
        pytest.importorskip("re2")
    goregex.compile_search.cache_clear()
    return str(request.param)


@pytest.mark.parametrize("pattern", HOSTILE)
def test_no_pattern_hangs(engine: str, pattern: str) -> None:
    """A backtracking engine would take practically forever for each of these patterns."""
    matches(pattern, TEXT)
    ptcompile.lint(CRD % (pattern, pattern, pattern.replace("\\", "\\\\"), TEXT, TEXT, TEXT))


@pytest.mark.parametrize(
    ("pattern", "text", "right"),
    [
        ("^a+$", "aaa", True),
        ("^a+$", "aab", False),
        ("^a$", "a\n", False),
        ("a{2,3}", "xaax", True),
        ("^(?i)abc$", "ABC", True),
        (r"^\d$", "٣", False),
    ],
)
def test_simple_patterns_match_as_in_go(engine: str, pattern: str, text: str, right: bool) -> None:
    assert matches(pattern, text) is right


def test_re2_accepts_the_syntax_of_go() -> None:
    pytest.importorskip("re2")
    goregex.compile_search.cache_clear()
    assert compile_search(r"(?=a)b") is None, "Go has no lookahead"
    assert not matches("^(a+)+$", "aab")
    assert matches("^(a+)+$", "aaa")


def test_a_crd_pattern_is_checked(engine: str) -> None:
    diagnostics = ptcompile.lint(CRD % ("^a+$", "^b+$", "z", "x", "a", "a")).diagnostics
    assert [
        diagnostic.path for diagnostic in diagnostics if "must match" in diagnostic.message
    ] == [("spec", "a")]


@pytest.mark.parametrize(
    ("pattern", "linear"),
    [
        ("^a+$", True),
        ("^[a-z]{3}[.]$", True),
        ("^a.*b$", True),
        ("abc", True),
        ("a+b", False),  # a match can start at every character, so the time is quadratic
        ("^[a-z]+-[0-9]+$", False),
        ("(a|a)*b", False),
        ("(a|a){30}b", False),
        ("^(a|aa)+$", False),
        ("(a?){30}a{30}", False),
        ("a{999}b{999}", False),
        ("[[:alpha:]]", False),
        ("(?=a)b", False),
    ],
)
def test_without_re2_only_linear_patterns_are_matched(
    pattern: str, linear: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    goregex.compile_search.cache_clear()
    assert (compile_search(pattern) is not None) is linear
    schema = {"a": [{"pattern": pattern}], "patternProperties": {pattern: {}}}
    assert unmatchable_patterns(schema) == ([] if linear else [pattern])


def test_without_re2_only_short_patterns_are_matched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    goregex.compile_search.cache_clear()
    assert compile_search("^" + "a" * 999) is not None
    assert compile_search("^" + "a" * 1000) is None


def test_an_unmatchable_pattern_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    text = CRD % ("^(a|b)+$", "^b+$", "z", "x", "a", "a")
    goregex.compile_search.cache_clear()
    assert [diagnostic.name for diagnostic in ptcompile.lint(text).diagnostics] == ["invalid-value"]
    monkeypatch.setitem(sys.modules, "re2", None)
    goregex.compile_search.cache_clear()
    (diagnostic,) = ptcompile.lint(text).diagnostics
    assert (diagnostic.name, diagnostic.severity) == ("unread-rule", "warning")
    assert diagnostic.message.startswith("pattern not checked: ^(a|b)+$")


def test_a_pattern_above_the_memory_limit_is_not_compiled() -> None:
    pytest.importorskip("re2")
    goregex.compile_search.cache_clear()
    assert compile_search(r"(\pL{100}){100}") is None
    assert compile_search("^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$") is not None


@pytest.mark.parametrize(
    ("pattern", "python"),
    [
        ("^a$", r"^a\Z"),
        (r"^a\$", r"^a\$"),
        ("a", "a"),
        (r"^a\z", r"^a\Z"),
        ("^(?i)a$", r"(?i)^a\Z"),
        ("$", r"\Z"),
    ],
)
def test_patterns_are_translated_to_pythons_syntax(pattern: str, python: str) -> None:
    assert goregex.to_python_syntax(pattern) == python


@pytest.mark.parametrize(
    ("pattern", "invalid"),
    [("^a+$", False), ("(", True), ("(?=a)", True), (r"\d", False), ("((a{100}){100}){100}", None)],
)
def test_invalid_patterns_are_recognized_without_output(
    pattern: str, invalid: bool | None, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("re2")
    is_invalid = goregex.is_invalid(pattern)
    assert invalid is None or is_invalid is invalid
    assert capfd.readouterr().err == ""


def test_without_google_re2_nothing_is_certainly_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(goregex, "import_module", refuse)
    assert not goregex.is_invalid("(")


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("^a+$", "aaa", True),
        ("^a+$", "aab", False),
        ("^a$", "a\n", False),
        (r"^\d$", "\u0663", False),
    ],
)
@pytest.mark.parametrize("with_re2", [True, False])
def test_both_engines_agree(
    pattern: str, text: str, expected: bool, with_re2: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name)

    if with_re2:
        pytest.importorskip("re2")
    else:
        monkeypatch.setattr(goregex, "import_module", refuse)
    search = compile_search.__wrapped__(pattern)
    assert search is not None
    assert bool(search(text)) is expected


def test_long_patterns_are_not_matched_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(goregex, "import_module", refuse)
    longest = goregex._PATTERN_CHARACTERS_MAX
    assert compile_search.__wrapped__("a" * longest) is not None
    assert compile_search.__wrapped__("a" * (longest + 1)) is None

"""Patterns that strangers bring: matched in linear time, or not at all."""

from __future__ import annotations

import sys

import pytest

import ptcompile
from ptcompile.kubernetes import goregex
from ptcompile.kubernetes.goregex import fits, search

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
    """With google-re2, and without."""
    if request.param == "re":
        monkeypatch.setitem(sys.modules, "re2", None)
    else:
        pytest.importorskip("re2")
    goregex.search.cache_clear()
    return str(request.param)


@pytest.mark.parametrize("pattern", HOSTILE)
def test_no_pattern_hangs(engine: str, pattern: str) -> None:
    """With an engine that backtracks each of these would not end in this world's time."""
    fits(pattern, TEXT)
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
def test_simple_patterns_mean_what_they_mean_in_go(engine: str, pattern: str, text: str, right: bool) -> None:
    assert fits(pattern, text) is right


def test_re2_reads_what_go_reads() -> None:
    pytest.importorskip("re2")
    goregex.search.cache_clear()
    assert search(r"(?=a)b") is None, "Go has no lookahead"
    assert not fits("^(a+)+$", "aab")
    assert fits("^(a+)+$", "aaa")


def test_a_crd_s_pattern_is_still_asked(engine: str) -> None:
    found = ptcompile.lint(CRD % ("^a+$", "^b+$", "z", "x", "a", "a")).diagnostics
    assert [one.path for one in found if "must match" in one.message] == [("spec", "a")]


def test_a_text_too_long_for_python_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    goregex.search.cache_clear()
    assert fits("^a+$", "b" * 3000)
    assert not fits("^a+$", "b" * 2000)

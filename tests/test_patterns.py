"""No regular expression backtracks excessively: time grows linearly for long inputs that almost match."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.goregex import to_python_syntax
from ptcompile.diagnosis.messages import messages
from tests import sources
from tests.sources import PACKAGE

ROOT = Path(__file__).parents[1]
METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
SHARES = 12
"""Number of tests that share all patterns, so processes can run in parallel."""
CALLS = frozenset({"Pattern", "re.compile", *(f"re.{method}" for method in METHODS)})


def _calls() -> Iterator[tuple[str, str, int, str]]:
    """Yield each pattern literal with its location, text, flags and, if stated, its use."""
    for path, module in sources.package().items():
        if "re." not in module.text and "Pattern(" not in module.text:
            continue
        nodes = list(ast.walk(module.tree))
        used = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if not (isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS):
                continue
            where = f"{path}:{node.lineno}"
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            method = used.get(id(node), "search") if method in ("compile", "") else method
            try:
                text = _as_text(ast.literal_eval(node.args[0]))
            except ValueError:
                text = ""  # assembled from parts: covered by the compiled patterns
            yield where, text, re.MULTILINE if "MULTILINE" in ast.unparse(node) else 0, method


def _as_text(pattern: str | bytes) -> str:
    return pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern


def _compiled() -> Iterator[tuple[str, str, int, str]]:
    """Yield each pattern that a module of the package holds after import, at any depth of its constants."""
    for info in pkgutil.walk_packages([str(PACKAGE)], "ptcompile."):
        if info.name in {"ptcompile.__main__", "ptcompile.mcp.protocol"} or info.name.startswith(
            "ptcompile.adapters."
        ):
            continue  # adapters and the MCP server import packages that may not be installed
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            for pattern, method in _in(value, 0):
                yield f"{info.name}.{name}", _as_text(pattern.pattern), pattern.flags, method


def _in(value: Any, depth: int) -> Iterator[tuple[re.Pattern[Any], str]]:
    owner = getattr(value, "__self__", value)
    if isinstance(owner, re.Pattern | Pattern):
        compiled = owner.compiled if isinstance(owner, Pattern) else owner
        yield compiled, "search" if owner is value else value.__name__
    elif isinstance(value, tuple | list | dict) and depth < 3:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _in(inner, depth + 1)


def _messages() -> Iterator[tuple[str, str, int, str]]:
    for message in messages().values():
        yield f"message {message.id}", message.pattern, 0, "search"


def _schemas() -> Iterator[tuple[str, str, int, str]]:
    for path in sorted((ROOT / "schemas").rglob("*.json")):
        for text in set(_patterns(json.loads(path.read_text(encoding="utf-8")))):
            yield str(path.relative_to(ROOT)), to_python_syntax(text), 0, "search"


def _patterns(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        for inner in value.values():
            yield from _patterns(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _patterns(inner)


@cache
def _all() -> dict[tuple[str, int, str], str]:
    places: dict[tuple[str, int, str], str] = {}
    for where, text, flags, method in (*_compiled(), *_calls(), *_messages(), *_schemas()):
        if text:
            places.setdefault(
                (text, flags & ~re.UNICODE, method if method in METHODS else "search"), where
            )
    return places


def _attacks(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield prefixes, repeated parts, and suffixes that prevent a match, made of the characters in a pattern."""
    spoken = dict.fromkeys(
        c for c in text if c.isascii() and c.isprintable() and c not in "()?+^"
    ) | dict.fromkeys("a0 .-")
    letters = list(spoken)[:16]
    words = re.findall(r"[A-Za-z${#:\[]{2,}", text.replace("\\", ""))[:3]
    pairs = [a + b for a in letters[:5] for b in letters[:5] if a != b]
    for unit in (*letters, *pairs, *words, "\n", " \n", "\\", "${a-", "# "):
        for start in dict.fromkeys(("", "a", *words[:1])):
            yield start, unit, "\x00"
            yield start, unit, ""


def _used(text: str, flags: int, method: str) -> Callable[[str], object]:
    pattern = re.compile(text, flags)
    if method in ("sub", "subn"):
        return lambda given: pattern.sub("", given)
    run = getattr(pattern, method)
    return lambda given: list(run(given)) if method == "finditer" else run(given)


def _spent(run: Callable[[str], object], given: str) -> float:
    started = time.process_time()
    run(given)
    return time.process_time() - started


def _grows_badly(run: Callable[[str], object], start: str, unit: str, end: str) -> bool:
    """Return whether four times the input takes more than eight times as long, if that is long enough to measure."""
    size = 1500 // len(unit)
    small, large = start + unit * size + end, start + unit * (4 * size) + end
    for _ in range(3):
        slow = _spent(run, large)
        if slow < 0.004 or slow < 8 * max(_spent(run, small), 1e-5):
            return False
    return True


def test_the_patterns_are_found() -> None:
    places = set(_all().values())
    assert len(_all()) > 70
    for one in (
        "ptcompile.source.scalars._signed_binary",
        "ptcompile.report.text._STYLES",
        "ptcompile.source.suppression._COMMENT",
    ):
        assert one in places, one
    assert any(where.startswith("schemas/") for where in places)
    assert any(where.startswith("message ") for where in places)


def test_a_pattern_is_compiled_on_first_use() -> None:
    asked = Pattern(r"(?i)(a)b")
    assert "compiled" not in vars(asked)
    assert asked.search("xAb") is not None
    wrong = Pattern("(")
    with pytest.raises(re.error):
        wrong.search("")


@pytest.mark.parametrize("method", ["match", "fullmatch", "search", "findall", "finditer"])
@pytest.mark.parametrize("text", ["xAbab", "aB", ""])
def test_a_pattern_behaves_as_a_compiled_one(method: str, text: str) -> None:
    asked = Pattern(r"(?i)(a)b")
    ours, theirs = getattr(asked, method)(text), getattr(asked.compiled, method)(text)
    shown = [
        list(map(str, one)) if method.startswith("find") else str(one) for one in (ours, theirs)
    ]
    assert shown[0] == shown[1]
    assert asked.sub("-", text) == asked.compiled.sub("-", text)


def test_a_bad_pattern_is_detected() -> None:
    assert _grows_badly(_used(r"[ab]*a[ab]*c", 0, "match"), "", "ab", "\x00")
    assert _grows_badly(_used(r" +x", 0, "search"), "", " ", "")
    assert not _grows_badly(_used(r"[ab]+c", 0, "fullmatch"), "", "ab", "\x00")


@pytest.mark.parametrize("share", range(SHARES))
def test_time_is_linear_in_the_input(share: int) -> None:
    for key, where in list(_all().items())[share::SHARES]:
        run = _used(*key)
        bad = [attack for attack in _attacks(key[0]) if _grows_badly(run, *attack)]
        assert not bad, (where, key, bad[:3])

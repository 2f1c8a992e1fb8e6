"""Specs with their findings: each text here has the cases of one module of checks.

A case begins with `# TARGET PROFILE`, followed by lines of the spec, and by the findings, each with its help. In the
text `lowering`, what follows is what the spec changes in the compiler's job.
`python -m tests.compiler.checks.findings` writes the findings again; review the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import yaml

from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.reader import decode_spec
from tests.making import compiled, profile, smallest, text

FOLDER = Path(__file__).parent


def cases(name: str) -> list[str]:
    """Return the cases of a text."""
    return [
        "# " + case
        for case in ("\n" + (FOLDER / f"{name}.txt").read_text("utf-8")).split("\n# ")[1:]
    ]


def findings(source: str, target: str, cluster: str) -> Iterator[str]:
    """Yield the lines of a spec's findings."""
    problems = compiled(source, target, profile(yaml.safe_load(cluster))).problems
    for problem in problems:
        yield f"> {problem.severity} {problem.stage} {problem.name}: {problem.message}"
        if problem.help:
            yield f">   {problem.help}"
    if not problems:
        yield "> no finding"


def lowered(source: str, _target: str, cluster: str) -> Iterator[str]:
    """Yield the lines in which a spec's job differs from that of the smallest spec."""
    usual, job = (dict(_leaves(_job(text, cluster))) for text in (smallest(), source))
    for path in dict.fromkeys((*usual, *job)):
        if usual.get(path) != job.get(path):
            yield f"> {path} = {job.get(path, 'absent')}"


RESULTS: dict[str, Callable[[str, str, str], Iterator[str]]] = {"lowering": lowered}
"""By text, what follows the specs; findings in all others."""


def again(case: str, name: str = "") -> str:
    """Return a case with the results that its spec has now. An `image:` in it replaces the usual lines."""
    head, *lines = case.strip().splitlines()
    _, target, cluster = head.split(" ", 2)
    body = [line for line in lines if not line.startswith("> ")]
    source = (
        text("\n".join(body))
        if any(line.startswith("image:") for line in body)
        else smallest("\n".join(body))
    )
    return "\n".join([head, *body, *RESULTS.get(name, findings)(source, target, cluster)])


def _job(source: str, cluster: str) -> object:
    spec, problems = decode_spec(yaml.safe_load(source))
    assert spec is not None, problems
    return lower(spec, profile(yaml.safe_load(cluster)))


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of values that are not empty; only items with fields are values of their own."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}[{key}]")
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for key in value._fields:
            yield from _leaves(getattr(value, key), f"{path}.{key}".lstrip("."))
    elif isinstance(value, tuple) and any(hasattr(item, "_fields") for item in value):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]")
    elif value not in (None, (), {}, [], frozenset()):
        yield path, repr(sorted(value) if isinstance(value, frozenset) else value)

"""How long an editor waits for each answer of the language server about a text, by the real
protocol.

All requests for texts of 200 lines; and the findings after each of 200 edits of one object at a
time, for a manifest of 200 lines and a stream of 2,000, with the same edits by turns for the server
of another checkout.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import ptcompile
from benchmarks.jobs import documents, spec
from ptcompile.source.emitter import emit
from tests.server.client import Client

_LINES: Final = 200
_ROUNDS: Final = 60
_EDITS: Final = 200
_JOBS: Final = 24
"""Jobs with their Services in a stream of 2,000 lines."""
_IMAGE: Final = "image: ghcr.io/acme/llama:2."
_GOAL: Final = 0.050
"""Seconds for any answer about a text of 200 lines. Longer texts are linted as a whole and take
longer.
"""

Times = tuple[float, float]
"""Seconds of the clock, and of the server's processor time: on a busy machine the first are
mostly waiting.
"""


def _texts() -> dict[str, str]:
    """A spec, a manifest and a stream of manifests, of 200 lines each."""
    beginning = spec(1, env=0).replace("env: {", "env:\n    X: {").rstrip("\n")
    head, _, rest = beginning.partition("  env:\n")
    lines = head.count("\n") + rest.count("\n")
    variables = "".join(f"    VARIABLE_{i}: value-{i}\n" for i in range(_LINES - lines))
    own = f"{head}  env:\n{variables}" + "\n".join(rest.splitlines()[1:]) + "\n"
    manifest = documents(1, env=57)[0]
    stream = "---\n".join(documents(3))
    return {"spec": own, "manifest": manifest, "stream": stream}


def run(before: str | None = None) -> None:
    """Type into each text and ask everything after each change; print the median and the 95th
    percentile.

    `before` is another checkout, whose server gets the edits of single objects too.
    """
    _findings(before)
    for name, text in _texts().items():
        found = _measured(text)
        print(f"  {name}, {len(text.splitlines())} lines")
        for what, times in found.items():
            wall, cpu = ([one[part] for one in times] for part in (0, 1))
            high = quantiles(wall, n=20)[-1]
            missed = "" if high <= _GOAL else f"  above {_GOAL * 1e3:.0f} ms"
            print(f"    {what:<20}{_shown(wall)}; processor{_shown(cpu)}{missed}")


def _findings(before: str | None) -> None:
    """Edit one object at a time, and wait for the findings."""
    objects = [
        emit(manifest)
        for n in range(_JOBS)
        for manifest in ptcompile.compile(spec(n), target="job").unwrap()
    ]
    for name, text in {
        "manifest": documents(1, env=60)[0],
        "stream": "---\n".join(objects),
    }.items():
        print(f"  findings after an edit of one object: {name}, {len(text.splitlines())} lines")
        times = _compared(text, {"now": None, **({"before": before} if before else {})})
        for what, pairs in times.items():
            wall, cpu = ([one[part] for one in pairs] for part in (0, 1))
            print(f"    {what:<20}{_shown(wall)}; processor{_shown(cpu)}")
        if before:
            ratios = [
                now[1] / then[1] for now, then in zip(times["now"], times["before"], strict=True)
            ]
            high = [
                quantiles([cpu for _, cpu in times[what]], n=20)[-1] for what in ("now", "before")
            ]
            print(
                f"    processor time {median(ratios):.2f} of that before, 95th percentiles "
                f"{high[0] / high[1]:.2f}"
            )


def _compared(text: str, checkouts: dict[str, str | None]) -> dict[str, list[Times]]:
    """The times of each edit by the server of each checkout, by turns."""
    with ExitStack() as stack:
        clients = {}
        for name, checkout in checkouts.items():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            clients[name] = stack.enter_context(Client(folder, checkout=checkout))
        for client in clients.values():
            client.open("a.yaml", text)
            # warmed up by now
            client.call("textDocument/documentSymbol", textDocument={"uri": client.uri("a.yaml")})

        times: dict[str, list[Times]] = {}
        for version, changed in enumerate(_edited(text), 2):
            for name, client in clients.items():
                _timed(client, times, name, partial(_typed, client, changed, version))
        return times


def _edited(text: str) -> Iterator[str]:
    """The text after each edit; each types a digit into the image of another object."""
    parts = text.split(_IMAGE)
    for n in range(_EDITS):
        at = n % (len(parts) - 1) + 1
        parts[at] = f"{n % 9 + 1}{parts[at]}"
        yield _IMAGE.join(parts)


def _shown(seconds: list[float]) -> str:
    return (
        f"{median(seconds) * 1e3:7.1f} ms, 95 % below {quantiles(seconds, n=20)[-1] * 1e3:6.1f} ms"
    )


def _measured(text: str) -> dict[str, list[Times]]:
    """The times of each request in each round, after a change of the text each."""
    with tempfile.TemporaryDirectory() as folder, Client(Path(folder)) as client:
        client.replies["window/showDocument"] = {"success": True}
        client.open("a.yaml", text)
        # warmed up by now
        client.call("textDocument/documentSymbol", textDocument={"uri": client.uri("a.yaml")})
        found: dict[str, list[Times]] = {}
        for version in range(2, _ROUNDS + 2):
            changed = text.replace(
                "image: ghcr.io/acme/llama:2.0", f"image: ghcr.io/acme/llama:2.{version}", 1
            )
            changed += f"# {version}\n"
            _timed(client, found, "diagnostics", partial(_typed, client, changed, version))
            for what, ask in _asked(client, changed).items():
                _timed(client, found, what, ask)

        return found


def _typed(client: Client, text: str, version: int) -> None:
    client.change("a.yaml", text, version)
    client.diagnostics("a.yaml", version)


def _asked(client: Client, text: str) -> dict[str, Callable[[], Any]]:
    """Every request, at a line in the middle that has something to say."""
    lines = text.splitlines()
    middle = next(i for i, line in enumerate(lines) if "image:" in line)
    place = client.at("a.yaml", middle, lines[middle].index("image") + 2)
    variable = next(i for i, line in enumerate(lines) if "VARIABLE_1" in line or "RUN" in line)
    document = {"textDocument": place["textDocument"]}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines), "character": 0}}
    actions = {**document, "range": whole, "context": {"diagnostics": []}}

    return {
        "completion": lambda: client.call("textDocument/completion", **place),
        "hover on a field": lambda: client.call("textDocument/hover", **place),
        "hover on a variable": lambda: client.call("textDocument/hover", **client.at(
            "a.yaml", variable, len(lines[variable]) - len(lines[variable].lstrip()) + 10)),
        "definition": lambda: client.call("textDocument/definition", **place),
        "symbols": lambda: client.call("textDocument/documentSymbol", **document),
        "inlay hints": lambda: client.call("textDocument/inlayHint", **document, range=whole),
        "code lenses": lambda: client.call("textDocument/codeLens", **document),
        "code actions": lambda: client.call("textDocument/codeAction", **actions),
    }  # fmt: skip


def _timed(
    client: Client, found: dict[str, list[Times]], what: str, ask: Callable[[], Any]
) -> None:
    start, busy = time.perf_counter(), client.cpu()
    ask()
    found.setdefault(what, []).append((time.perf_counter() - start, client.cpu() - busy))

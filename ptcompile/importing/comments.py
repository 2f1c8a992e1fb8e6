"""Comments of an imported spec: at each line that the manifest did not force, why it is there."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.importing.run import Tried
from ptcompile.kubernetes.untyped import at, items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.importing.draft import Spec
    from ptcompile.kubernetes.untyped import Json

Path = tuple[str | int, ...]
_LONGEST = 80
"""Characters of a start that is shown whole."""
_ELASTIC = "null: left to torchrun, as in the manifest"


def comments(tried: Tried, manifest: Json) -> dict[Path, str]:
    """Comments by the path of the line."""
    return dict(_comments(tried, manifest))


def _comments(tried: Tried, manifest: Json) -> Iterator[tuple[Path, str]]:
    spec: Spec = tried.spec["spec"]
    if spec.get("sharedMemory") is False:
        yield ("spec", "sharedMemory"), "none in the manifest; delete this line to get one (PTC302)"
    if at(spec, "runPolicy").get("backoffLimit") == "Unlimited":
        yield ("spec", "runPolicy"), "no limit in the manifest: restarts forever (PTC717)"
    if tried.lifted:
        word = "script" if "script" in spec else "module"
        yield ("spec", word), f"was: {_start(tried)}"
    elif isinstance(spec.get("command"), list) and _speaks_of_torchrun(spec["command"]):
        yield ("spec", "command"), "kept as is: script and elastic would not mean the same"
    if "nodes" in spec and ":" in str(at(spec, "elastic").get("nnodes", "")):
        yield ("spec", "nodes"), "at the start"
    nulls = [w for w, v in at(spec, "elastic").items() if v is None or (isinstance(v, dict) and None in v.values())]
    if nulls:
        yield ("spec", "elastic"), _ELASTIC
    yield from _of_pods(spec, ("spec",))
    if at(spec, "names").keys() - {"container"}:
        yield ("spec", "names"), "host names are derived from them"
    if "manifest" in spec:
        yield ("spec", "manifest"), "for this target only: no spec field expresses it"


def _of_pods(block: Spec, path: Path) -> Iterator[tuple[Path, str]]:
    if None in at(block, "env").values():
        yield (*path, "env"), "null: not in the manifest"
    if at(block, "resources", "requests") and not at(block, "resources", "limits"):
        yield (*path, "resources"), "requests without limits"
    for role in ("master", "worker"):
        if isinstance(block.get(role), dict):
            yield from _of_pods(block[role], (*path, role))


def _start(tried: Tried) -> str:
    """The words that started torchrun in the manifest, up to what it starts."""
    spec = tried.spec["spec"]
    entry = spec.get("script") or spec.get("module")
    for pods in tried.read.pods:
        for one in items(at(pods.template, "spec").get("containers")):
            words = [str(word) for word in (*(one.get("command") or ()), *(one.get("args") or ()))]
            if one.get("name") == pods.main and words:
                shown = " ".join(words[: words.index(entry)] if entry in words else words)
                return shown if len(shown) <= _LONGEST and "\n" not in shown else f"{shown.split()[0]} ..."
    return "torchrun"


def _speaks_of_torchrun(command: list[Any]) -> bool:
    return any("torchrun" in str(word) or "torch.distributed" in str(word) for word in command)

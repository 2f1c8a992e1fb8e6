"""Comments of an imported spec: at each line that the manifest did not force, why it is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptcompile.importing.draft import Spec
from ptcompile.importing.run import Tried
from ptcompile.kubernetes.untyped import Json, at

Path = tuple[str | int, ...]
_ELASTIC = "null: left to torchrun, as in the manifest"


def comments(tried: Tried, manifest: Json) -> dict[Path, str]:
    """Comments by the path of the line."""
    return dict(_comments(tried, manifest))


def _comments(tried: Tried, manifest: Json) -> Iterator[tuple[Path, str]]:
    spec: Spec = tried.spec["spec"]
    if spec.get("sharedMemory") is False:
        yield ("spec", "sharedMemory"), "none in the manifest; delete this line to get one (PTC302)"
    if at(spec, "runPolicy").get("backoffLimit") == "Unlimited":
        where = "spec.runPolicy.backoffLimit" if tried.read.target == "pytorchjob" else "backoffLimit"
        yield ("spec", "runPolicy"), f"{where} is absent: a job that fails restarts for ever (PTC717)"
    if tried.lifted:
        word = "script" if "script" in spec else "module"
        yield ("spec", word), f"was: {_start(tried, manifest)}"
    elif isinstance(spec.get("command"), list) and _speaks_of_torchrun(spec["command"]):
        yield ("spec", "command"), "kept as it is: script and elastic would not mean the same"
    if "nodes" in spec and ":" in str(at(spec, "elastic").get("nnodes", "")):
        yield ("spec", "nodes"), "at the start"
    nulls = [w for w, v in at(spec, "elastic").items() if v is None or (isinstance(v, dict) and None in v.values())]
    if nulls:
        yield ("spec", "elastic"), _ELASTIC
    yield from _of_pods(spec, ("spec",))
    if at(spec, "names").keys() - {"container"}:
        yield ("spec", "names"), "host names are derived from them"
    if "manifest" in spec:
        yield ("spec", "manifest"), "for this target alone: no other word says it"


def _of_pods(block: Spec, path: Path) -> Iterator[tuple[Path, str]]:
    if nulls := [name for name, value in at(block, "env").items() if value is None]:
        yield (*path, "env"), f"not in the manifest, and compile would add: {', '.join(nulls)}"
    if at(block, "resources", "requests") and not at(block, "resources", "limits"):
        yield (*path, "resources"), "requests without limits"
    for role in ("master", "worker"):
        if isinstance(block.get(role), dict):
            yield from _of_pods(block[role], (*path, role))


def _start(tried: Tried, manifest: Json) -> str:
    """How the manifest starts torchrun, without its arguments and so without their values."""
    for pods in tried.read.pods:
        for one in at(pods.template, "spec").get("containers") or ():
            words: list[Any] = [*(one.get("command") or ()), *(one.get("args") or ())] if isinstance(one, dict) else []
            if words and one.get("name") == pods.main:
                return "torchrun in a shell" if " " in str(words[-1]) and len(words) == 3 else _first(words)
    return "torchrun"


def _first(words: list[Any]) -> str:
    return "python -m torch.distributed.run" if "torch.distributed.run" in words else "torchrun, with its options"


def _speaks_of_torchrun(command: list[Any]) -> bool:
    return any("torchrun" in str(word) or "torch.distributed" in str(word) for word in command)

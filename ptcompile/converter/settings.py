"""Settings that only the manifest's own operator has: which of them a conversion loses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import (
    Path,
    Problem,
    Problems,
    Severity,
    field_path,
    own_problem,
)
from ptcompile.kinds.model import LeftBehind
from ptcompile.kubernetes.unstructured import Json
from ptcompile.operators.table import BY_TARGET

_LEFT_BEHIND: Mapping[Path, LeftBehind] = {
    ("metadata", "generateName"): LeftBehind(
        "the converted job has one name instead of a new one for each `kubectl create`",
        "rename it for each run",
    ),
}
"""Settings of every operator without which a job trains the same."""


class Settings(NamedTuple):
    """The settings of one manifest that no spec field expresses."""

    lost: tuple[Path, ...] = ()
    left_behind: tuple[Path, ...] = ()
    """Those without which the job trains the same."""


def own_settings(spec: Json, source: str) -> Settings:
    """Return the settings of a spec's patch for the target `source` that another target loses.

    A null or an empty list is no setting: it removes what compile would add for that target.
    """
    conversion = BY_TARGET[source].conversion
    ignorable = _left_behind(source)
    covered = (*conversion.endings, *conversion.without_effect)
    lost: list[Path] = []
    left_behind: list[Path] = []
    for path, value in set_values(spec.get("manifest", {}).get(source, {})):
        if path in ignorable:
            if ignorable[path].word in str(value):
                left_behind += [path]
        elif not any(path[: len(prefix)] == prefix for prefix in covered):
            lost.append(path)

    return Settings(tuple(lost), tuple(left_behind))


def _left_behind(source: str) -> Mapping[Path, LeftBehind]:
    return {**_LEFT_BEHIND, **BY_TARGET[source].conversion.left_behind}


def set_values(patch: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the values that a patch sets, with their paths; a list counts as one value, null and an
    empty list as none.
    """
    if isinstance(patch, Mapping) and patch:
        for key, inner in patch.items():
            yield from set_values(inner, (*path, str(key)))
    elif patch not in (None, {}, []) and path:
        yield path, patch


def lost_settings(settings: Settings, source: str, target: str) -> Problems:
    """Yield the findings for settings of the manifest that only its own operator has."""
    for path in settings.left_behind:
        effect, help, _ = _left_behind(source)[path]
        message = f"{field_path(path)} has no counterpart on the target {target}: {effect}"
        yield conversion_problem(message, help, "warning", "not-carried-over")
    if settings.lost:
        listed = ", ".join(map(field_path, settings.lost))
        message = f"the target {target} has nothing for these settings of {source}: {listed}"
        help = "use --lossy, or lossy=True, to drop them with a warning"
        yield conversion_problem(message, help, name="not-carried-over")


def conversion_problem(
    text: str, help: str | None = None, severity: Severity = "error", name: str = "convert-differs"
) -> Problem:
    """Return what a conversion changes or loses, as a finding of the manifest's spec."""
    return own_problem(name, ("spec",), text, help, severity, "run")


TIME_TO_LIVE = ("spec", "runPolicy", "ttlSecondsAfterFinished")
"""The spec field that says how long a finished job is kept: a job without it trains the same."""

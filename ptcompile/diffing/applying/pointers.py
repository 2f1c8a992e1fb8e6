"""Fields of a pod that are pointers in Go: `false` is not the same as absent to the server that compares them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_POINTERS: Final = frozenset(
    {
        "allowPrivilegeEscalation",
        "automountServiceAccountToken",
        "hostUsers",
        "privileged",
        "readOnlyRootFilesystem",
        "runAsNonRoot",
        "setHostnameAsFQDN",
        "shareProcessNamespace",
    }
)


def pointer_changes(old: Any, new: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths where only one of two objects says `false`; items of lists are compared by their place."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in old.keys() | new.keys():
            before, after = old.get(key), new.get(key)
            if key in _POINTERS and (before is None) != (after is None) and (before is False or after is False):
                yield (*path, key)
            elif key == "securityContext" and (before is None or after is None):
                yield from pointer_changes(before or {}, after or {}, (*path, key))
            else:
                yield from pointer_changes(before, after, (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index, (before, after) in enumerate(zip(old, new, strict=False)):
            yield from pointer_changes(before, after, (*path, f"[{index}]"))

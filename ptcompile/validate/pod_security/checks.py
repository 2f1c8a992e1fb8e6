"""What the checks of the levels are asked about: a pod, and what a level forbids in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import mapping
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Json = Mapping[str, Any]

CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")


class Violation(NamedTuple):
    """One thing that a level forbids: where in the pod, and the server's words."""

    path: Path
    reason: str
    detail: str
    help: str


class Pod(NamedTuple):
    """One pod under check."""

    spec: Json
    meta: Json
    minor: int
    """Of the Kubernetes version whose checks are asked."""

    def containers(self) -> Iterator[tuple[Path, str, Json]]:
        """Path, name and container of each kind."""
        for key in CONTAINERS:
            listed = self.spec.get(key)
            for index, one in enumerate(listed if isinstance(listed, list) else ()):
                if isinstance(one, Mapping):
                    yield ("spec", key, index), str(one.get("name")), one

    def contexts(self) -> Iterator[tuple[Path, str, Json]]:
        """The security context of the pod, and of each container: path, who has it, and the context."""
        yield ("spec", "securityContext"), "pod", mapping(self.spec.get("securityContext"))
        for path, name, container in self.containers():
            context = mapping(container.get("securityContext"))
            yield (*path, "securityContext"), f'container "{name}"', context

    def is_windows(self) -> bool:
        """Whether the pod says that it is one of Windows."""
        return mapping(self.spec.get("os")).get("name") == "windows"


Check = Callable[[Pod], Iterator[Violation]]


def items(value: Any) -> list[Any]:
    """A value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []

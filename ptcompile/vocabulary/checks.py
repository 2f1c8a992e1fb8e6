"""What our two vocabularies accept beyond what a JSON Schema can say.

The models run these functions as validators, and name them in the schema as `x-check`: there `from_schema` finds them.
Each gives the value that is kept, and raises ValueError with the reason in plain words.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.vocabulary.cluster import pod_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, Protocol, TypeVar

    Topology = TypeVar("Topology", bound="_Topology")
    ProfileSpec = TypeVar("ProfileSpec", bound="_ProfileSpec")

    class _Topology(Protocol):
        def given(self) -> dict[str, Any]: ...

    class _ProfileSpec(Protocol):
        @property
        def queue_system(self) -> str | None: ...
        @property
        def gang_scheduler(self) -> str | None: ...


NO_SCHEDULER: Final = frozenset({"kueue", None})
"""Queue systems that place no pods. The others are schedulers: what they admit they also place."""

_NNODES = Pattern(r"([0-9]{1,9})(?::([0-9]{1,9}))?")


def nnodes_range(value: int | str) -> tuple[int, int]:
    """`nnodes` as torchrun reads it: (fewest, most). Raises ValueError with the reason in plain words."""
    match = _NNODES.fullmatch(str(value))
    if match is None:
        raise ValueError(f"{value!r} is neither a number of nodes nor a range MIN:MAX, such as 4 or '2:4'")
    least, most = int(match[1]), int(match[2] or match[1])
    if least < 1:
        raise ValueError(f"{value!r} asks for {least} nodes: at least one is needed")
    if least > most:
        raise ValueError(f"{value!r} has more nodes as its minimum ({least}) than as its maximum ({most})")
    return least, most


def nnodes(value: Any) -> int | str:
    """torchrun's `nnodes`, as it stands."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("must be a number of nodes or a range MIN:MAX")
    nnodes_range(value)
    return value


def interval(value: Any) -> int | float:
    """Seconds above 0, of which torchrun takes fractions."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number of seconds")
    if not 0 < value < float("inf"):
        raise ValueError("must be finite and above 0")
    return value


def as_text(value: Any) -> Any:
    """A number as the text that Kubernetes would keep; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return repr(value)


def amount(value: Any) -> str:
    """A Kubernetes quantity that is not negative, as text."""
    text = as_text(value)
    if not isinstance(text, str) or not quantity.valid(text):
        raise ValueError(f"{text!r} is not a Kubernetes quantity")
    if text.lstrip(" ").startswith("-"):
        raise ValueError(f"{text!r} is negative")
    return text


def one_level(topology: Topology) -> Topology:
    """Nearness by exactly one level."""
    if len(topology.given()) != 1:
        raise ValueError("set exactly one of `required` and `preferred`")
    return topology


def own_scheduler(profile: ProfileSpec) -> ProfileSpec:
    """A profile whose queues and gang scheduler agree."""
    other_than_the_queues(profile.queue_system, profile.gang_scheduler)
    return profile


def other_than_the_queues(system: str | None, scheduler: str | None) -> None:
    """Raises where the queues are a scheduler's, and the gang scheduler is another."""
    if scheduler is not None and system not in NO_SCHEDULER and scheduler != system:
        raise ValueError(f"the queues of {system} imply its scheduler: remove it, or write {system}")


CHECKS: Final[dict[str, Callable[[Any], Any]]] = {
    "nnodes": nnodes,
    "quantity": amount,
    "interval": interval,
    "pod-template": pod_base.check,
    "one-level": one_level,
    "own-scheduler": own_scheduler,
}
"""By the name that a schema calls them in `x-check`."""


def split_endpoint(text: str) -> tuple[str, int] | None:
    """HOST:PORT as host and port; None where it is not that."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or not 1 <= int(port[:6]) <= 65535:
        return None
    return host, int(port)

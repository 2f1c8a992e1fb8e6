"""Pod templates of an object and their containers, as rules read them: with paths, each read once."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.commands import unwrap
from ptcompile.kubernetes.resources import count_accelerators
from ptcompile.kubernetes.unstructured import as_mapping, as_string, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


class Token(NamedTuple):
    """One word of a command line, with its path from the root of the object."""

    path: Path
    text: str


class EnvEntry(NamedTuple):
    """One env entry: its path, its name, and its value, or None where it has a source instead."""

    path: Path
    name: str
    value: str | None
    source: Json


class ManifestContainer:
    """One container of a template, with its path from the root of the object. What is read from it is read once."""

    def __init__(self, path: Path, spec: Json, *, init: bool, main: bool) -> None:
        self.path = path
        self.spec = spec
        self.is_init = init
        self.is_main = main
        """Whether it is the one that trains: named by its operator, else the first."""

    @property
    def name(self) -> str:
        """The container's name, or an empty string."""
        return as_string(self.spec.get("name"))

    @cached_property
    def limits(self) -> Json:
        """The limits as written."""
        return nested_map(self.spec, "resources", "limits")

    @cached_property
    def requests(self) -> Json:
        """The requests as written."""
        return nested_map(self.spec, "resources", "requests")

    def resource_list(self, half: str) -> Json:
        """`limits` or `requests` as written."""
        return self.limits if half == "limits" else self.requests

    @cached_property
    def accelerators(self) -> int:
        """Accelerators, or slices of them, in the limits, else in the requests; 0 where nothing can be read."""
        return count_accelerators(self.limits) or count_accelerators(self.requests)

    @cached_property
    def argv(self) -> tuple[Token, ...]:
        """The words of `command`, then those of `args`, with their paths; what is not a string is left out."""
        return tuple(
            Token((*self.path, key, i), word)
            for key in ("command", "args")
            for i, word in enumerate(_list(self.spec.get(key)))
            if isinstance(word, str)
        )

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The texts of `argv`: what most rules look at, who then find nothing to say of a path."""
        written = (*_list(self.spec.get("command")), *_list(self.spec.get("args")))
        return tuple([word for word in written if isinstance(word, str)])

    @cached_property
    def start_index(self) -> int:
        """The index of the word that is started, behind wrappers such as env and tini."""
        return unwrap(self.tokens).start

    @cached_property
    def env(self) -> tuple[EnvEntry, ...]:
        """The env entries in the order they are written."""
        return tuple(
            EnvEntry(
                (*self.path, "env", i),
                as_string(entry.get("name")),
                None if (source := nested_map(entry, "valueFrom")) else as_string(entry.get("value")),
                source,
            )
            for i, entry in _mappings(self.spec.get("env"))
        )

    @cached_property
    def mounts(self) -> tuple[tuple[Path, Json], ...]:
        """The volume mounts with their paths."""
        return tuple(((*self.path, "volumeMounts", i), one) for i, one in _mappings(self.spec.get("volumeMounts")))


class ManifestTemplate:
    """One pod template: where it stands, whose it is, how many pods come of it. A Pod is its own template."""

    def __init__(self, path: Path, data: Json, role: str, replicas: int, main: str | None = None) -> None:
        self.path = path
        """Of the mapping that has `metadata` and `spec`."""
        self.data = data
        self.role = role
        """Replica type, task or replicatedJob; empty where the kind has one template."""
        self.replicas = replicas
        self.main_name = main
        """The container that trains, by its operator's rule; None where that is the first."""

    @cached_property
    def spec(self) -> Json:
        """The pod's spec, empty where there is none."""
        return nested_map(self.data, "spec")

    @cached_property
    def volumes(self) -> dict[str, tuple[Path, Json]]:
        """The pod's volumes by name, with their paths."""
        return {
            as_string(one.get("name")): ((*self.path, "spec", "volumes", i), one)
            for i, one in _mappings(self.spec.get("volumes"))
        }

    @cached_property
    def containers(self) -> tuple[ManifestContainer, ...]:
        """Init containers first; a mapping is a container, and anything else is left out."""
        return tuple(self._containers())

    @cached_property
    def main_containers(self) -> tuple[ManifestContainer, ...]:
        """The container that trains: one, or none in a template without containers."""
        return tuple(one for one in self.containers if one.is_main)

    def _containers(self) -> Iterator[ManifestContainer]:
        for key, init in (("initContainers", True), ("containers", False)):
            specs = _mappings(self.spec.get(key))
            chosen = next(
                (i for i, one in specs if as_string(one.get("name")) == self.main_name), specs[0][0] if specs else -1
            )
            for i, one in specs:
                yield ManifestContainer((*self.path, "spec", key, i), one, init=init, main=not init and i == chosen)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _mappings(value: object) -> list[tuple[int, Json]]:
    """The mappings of a list that are not empty, with their indexes."""
    return [(i, found) for i, one in enumerate(_list(value)) if (found := as_mapping(one))]

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
    from ptcompile.simulator.launchers.command import Invocation


class Token(NamedTuple):
    """One token of a command line, with its path from the root of the object."""

    path: Path
    text: str


class EnvEntry(NamedTuple):
    """One env entry: its path, its name, and its value, or None if it has a source instead."""

    path: Path
    name: str
    value: str | None
    source: Json


class ManifestContainer:
    """One container of a template, with its path from the root of the object. Each property is read once."""

    def __init__(self, path: Path, spec: Json, *, init: bool, main: bool) -> None:
        self.path = path
        self.spec = spec
        self.is_init = init
        self.is_main = main
        """Whether it is the training container: the one with the operator's name, else the first."""

    @property
    def name(self) -> str:
        """The container's name, or an empty string."""
        return as_string(self.spec.get("name"))

    @cached_property
    def limits(self) -> Json:
        """The limits after admission."""
        return nested_map(self.spec, "resources", "limits")

    @cached_property
    def requests(self) -> Json:
        """The requests after admission."""
        return nested_map(self.spec, "resources", "requests")

    def resource_list(self, half: str) -> Json:
        """The `limits` or `requests` after admission."""
        return self.limits if half == "limits" else self.requests

    @cached_property
    def accelerators(self) -> int:
        """Number of accelerators, or slices, in the limits, else in the requests; 0 if unreadable."""
        return count_accelerators(self.limits) or count_accelerators(self.requests)

    @cached_property
    def argv(self) -> tuple[Token, ...]:
        """The tokens of `command`, then those of `args`, with their paths; non-strings are left out."""
        return tuple(
            Token((*self.path, key, i), word)
            for key in ("command", "args")
            for i, word in enumerate(_list(self.spec.get(key)))
            if isinstance(word, str)
        )

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The texts of `argv`, for rules that do not need the paths."""
        written = (*_list(self.spec.get("command")), *_list(self.spec.get("args")))
        return tuple([word for word in written if isinstance(word, str)])

    @cached_property
    def launch(self) -> Invocation:
        """What the command line starts, without the variables that an operator adds."""
        from ptcompile.simulator.launchers.command import read_command_line

        return read_command_line(self.tokens, {})

    @cached_property
    def start_index(self) -> int:
        """The index of the program that is started, after wrappers such as env and tini."""
        return unwrap(self.tokens).start

    @cached_property
    def env(self) -> tuple[EnvEntry, ...]:
        """The env entries as written, in order."""
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
        return tuple(((*self.path, "volumeMounts", i), mount) for i, mount in _mappings(self.spec.get("volumeMounts")))


class ManifestTemplate:
    """One pod template with its path, its role and its number of pods. A Pod is its own template."""

    def __init__(self, path: Path, data: Json, role: str, replicas: int, main: str | None = None) -> None:
        self.path = path
        """Path of the mapping that has `metadata` and `spec`."""
        self.data = data
        self.role = role
        """Replica type, task or replicatedJob; empty if the kind has one template."""
        self.replicas = replicas
        self.main_name = main
        """Name of the training container, if the operator prescribes one; None if it is the first."""

    @cached_property
    def spec(self) -> Json:
        """The pod's spec after admission, or an empty mapping."""
        return nested_map(self.data, "spec")

    @cached_property
    def volumes(self) -> dict[str, tuple[Path, Json]]:
        """The pod's volumes by name, with their paths."""
        return {
            as_string(volume.get("name")): ((*self.path, "spec", "volumes", i), volume)
            for i, volume in _mappings(self.spec.get("volumes"))
        }

    @cached_property
    def containers(self) -> tuple[ManifestContainer, ...]:
        """All containers, init containers first. Items that are not mappings are left out."""
        return tuple(self._containers())

    @cached_property
    def main_containers(self) -> tuple[ManifestContainer, ...]:
        """The training container: one, or none in a template without containers."""
        return tuple(container for container in self.containers if container.is_main)

    def _containers(self) -> Iterator[ManifestContainer]:
        for key, init in (("initContainers", True), ("containers", False)):
            specs = _mappings(self.spec.get(key))
            main_index = next(
                (i for i, spec in specs if as_string(spec.get("name")) == self.main_name), specs[0][0] if specs else -1
            )
            for i, spec in specs:
                yield ManifestContainer(
                    (*self.path, "spec", key, i), spec, init=init, main=not init and i == main_index
                )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _mappings(value: object) -> list[tuple[int, Json]]:
    """Return the non-empty mappings of a list with their indexes."""
    return [(i, mapping) for i, item in enumerate(_list(value)) if (mapping := as_mapping(item))]

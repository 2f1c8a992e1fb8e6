"""Pod templates of an object and their containers, as rules read them: with paths, each read
once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kinds.templates import indexed_mappings
from ptcompile.kubernetes.commands import unwrap
from ptcompile.kubernetes.resources import count_accelerators
from ptcompile.kubernetes.unstructured import (
    Json,
    as_list,
    as_text,
    namespace_of,
    nested_map,
    nested_string,
    nested_value,
)
from ptcompile.shell.calls import Files, ShellCall, no_files, shell_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.shell.script import Script
    from ptcompile.simulator.launchers.command import Invocation
    from ptcompile.simulator.mounted import FindObject


def _mounted_text(find: FindObject, spec: Json, container: Json, path: str) -> str | None:
    """Return the text of a file that a ConfigMap puts into a container of a pod, secrets masked,
    or None.
    """
    from ptcompile.simulator.mounted import mounted_path

    mounted = mounted_path(spec, container, path)
    file = mounted.file(find) if mounted is not None else None
    return file.known_text if file is not None else None


class Token(NamedTuple):
    """One token of a command line, with its path from the root of the object."""

    path: Path
    text: str


class EnvEntry(NamedTuple):
    """One env entry: its path, its name, and its value, or None if it has a source instead."""

    path: Path
    """The path of the entry; for a variable of `envFrom`, of its entry there."""
    name: str
    value: str | None
    source: Json
    writer: str = ""
    """What has the value, if the entry does not have it itself: `ConfigMap ml/env`."""

    @property
    def text(self) -> str:
        """The value, or an empty string."""
        return self.value or ""

    @property
    def value_path(self) -> Path:
        """The path of the value. No field is there if another object has it."""
        if not self.writer:
            return (*self.path, "value")
        if self.source:
            return (*self.path, "valueFrom", self.name)
        return (*self.path, self.name)

    @property
    def place(self) -> Path:
        """Where a finding about the whole entry stands: its path, or that of its value if
        another object has it.
        """
        return self.value_path if self.writer else self.path

    @property
    def name_path(self) -> Path:
        """The path of the name. No field is there if the name is a key of another object."""
        if self.writer and not self.source:
            return self.value_path
        return (*self.path, "name")


class Written(NamedTuple):
    """A part of an object, such as a volume, and its path in the object."""

    path: Path
    data: Json


class ManifestContainer:
    """One container of a template, with its path from the root of the object. Each property is
    read once.
    """

    def __init__(
        self,
        path: Path,
        spec: Json,
        *,
        init: bool,
        main: bool,
        find: FindObject | None = None,
        files: Files = no_files,
    ) -> None:
        self.path = path
        self.files = files
        """Returns the text of a file that a ConfigMap of the stream puts into the container."""
        self.spec = spec
        self.is_init = init
        self.is_main = main
        """Whether it is the training container: the one with the operator's name, else the
        first.
        """
        self._find = find

    @property
    def name(self) -> str:
        """The container's name, or an empty string."""
        return nested_string(self.spec, "name")

    @property
    def image(self) -> str:
        """The container's image, or an empty string."""
        return nested_string(self.spec, "image")

    @property
    def is_privileged(self) -> bool:
        """Whether the container has all rights on its node."""
        return nested_value(self.spec, "securityContext", "privileged") is True

    @property
    def ends_first(self) -> bool:
        """Whether it is an init container that ends before the others start: no native sidecar."""
        return self.is_init and self.spec.get("restartPolicy") != "Always"

    @cached_property
    def limits(self) -> Json:
        """The limits after admission."""
        return nested_map(self.spec, "resources", "limits")

    @cached_property
    def requests(self) -> Json:
        """The requests after admission."""
        return nested_map(self.spec, "resources", "requests")

    @property
    def resources(self) -> Iterator[tuple[Path, str, Any]]:
        """Each amount of the limits, then of the requests: its path, the resource and the
        amount.
        """
        for half, amounts in (("limits", self.limits), ("requests", self.requests)):
            for name, amount in amounts.items():
                yield (*self.path, "resources", half, str(name)), str(name), amount

    @cached_property
    def accelerators(self) -> int:
        """Number of accelerators, or slices, in the limits, else in the requests; 0 if
        unreadable.
        """
        return count_accelerators(self.limits) or count_accelerators(self.requests)

    @cached_property
    def argv(self) -> tuple[Token, ...]:
        """The tokens of `command`, then those of `args`, with their paths; non-strings are left
        out.

        A script in a ConfigMap of the stream is read as the script of `sh -c`, at the path of the
        file's name.
        """
        argv = [
            Token((*self.path, key, i), word)
            for key in ("command", "args")
            for i, word in enumerate(as_list(self.spec.get(key)))
            if isinstance(word, str)
        ]
        call = self.mounted_script
        if call is not None:
            path = argv[call.position].path
            argv[call.position : call.position] = [Token(path, word) for word in call.as_argument()]

        return tuple(argv)

    @cached_property
    def mounted_script(self) -> ShellCall | None:
        """The script that the command line runs from a ConfigMap of the stream, or None."""
        if not self.spec.get("volumeMounts"):
            return None
        call = shell_call(self.written_tokens, self.files, self.folder)
        return call if call is not None and call.file else None

    @property
    def written_tokens(self) -> tuple[str, ...]:
        """The texts of the command line as written, without the script of a ConfigMap."""
        written = (*as_list(self.spec.get("command")), *as_list(self.spec.get("args")))
        return tuple([word for word in written if isinstance(word, str)])

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The texts of `argv`, for rules that do not need the paths."""
        if self.mounted_script is None:
            return self.written_tokens
        return tuple([token.text for token in self.argv])

    @cached_property
    def launch(self) -> Invocation:
        """What the command line starts, without the variables that an operator adds."""
        from ptcompile.simulator.launchers.command import read_command_line

        return read_command_line(self.tokens, {}, self.files, self.folder)

    @property
    def folder(self) -> str:
        """The working folder, or an empty string if only the image knows it."""
        return nested_string(self.spec, "workingDir")

    @cached_property
    def call(self) -> ShellCall | None:
        """The shell on the command line with its script, or None."""
        return shell_call(self.tokens)

    @property
    def script_path(self) -> Path:
        """The path of the script, if a shell gets one."""
        if self.call is None:
            return self.path
        return self.argv[self.call.position].path

    @cached_property
    def script(self) -> Script | None:
        """What the script runs, with the variables of the container as written, or None without
        a script.
        """
        if self.call is None:
            return None

        from ptcompile.shell.script import read_script

        env = {
            entry.name: entry.value
            for entry in self.env
            if entry.value is not None and "$" not in entry.value
        }

        return read_script(self.tokens, env, self.files, self.folder)

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
                nested_string(entry, "name"),
                None if (source := nested_map(entry, "valueFrom")) else as_text(entry.get("value")),
                source,
            )
            for i, entry in _mappings(self.spec.get("env"))
        )

    @cached_property
    def variables(self) -> tuple[EnvEntry, ...]:
        """The variables that the container's processes see, with the values that ConfigMaps of the
        stream have.

        Of several entries with one name, the last takes effect.
        """
        entries = {entry.name: entry for entry in self._imported_variables()}
        for entry in self.env:
            entries.pop(entry.name, None)
            entries[entry.name] = self._with_configmap_text(entry)
        return tuple(entries.values())

    @property
    def has_unknown_variables(self) -> bool:
        """Whether `envFrom` names an object that the stream lacks."""
        if not self.spec.get("envFrom"):
            return False
        from ptcompile.simulator.kubelet import imported_names

        return self._find is None or imported_names(self.spec, self._find) is None

    def _imported_variables(self) -> Iterator[EnvEntry]:
        """Yield the variables of `envFrom`."""
        if self._find is None:
            return
        from ptcompile.simulator.kubelet import env_sources

        for source in env_sources(self.spec, self._find):
            path = (*self.path, "envFrom", source.position)
            for key in source.keys or ():
                entry = EnvEntry(path, source.prefix + key, None, {})
                yield self._with_text(entry, source.kind, source.name, key)

    def _with_configmap_text(self, entry: EnvEntry) -> EnvEntry:
        """Return a variable with the text of the ConfigMap that it refers to, if the stream has
        it.
        """
        source = nested_map(entry.source, "configMapKeyRef")
        if not source or self._find is None:
            return entry
        resolved = self._with_text(
            entry, "ConfigMap", nested_string(source, "name"), nested_string(source, "key")
        )
        return entry if resolved.value is None else resolved

    def _with_text(self, entry: EnvEntry, kind: str, name: str, key: str) -> EnvEntry:
        manifest = self._find(kind, name) if self._find is not None else None
        if manifest is None:
            return entry
        from ptcompile.simulator.mounted import MountedFile

        writer = f"{kind} {namespace_of(manifest)}/{name}"
        return entry._replace(value=MountedFile(manifest, key).known_text, writer=writer)

    @cached_property
    def mounts(self) -> tuple[Written, ...]:
        """The volume mounts."""
        mounts = _mappings(self.spec.get("volumeMounts"))
        return tuple(Written((*self.path, "volumeMounts", i), mount) for i, mount in mounts)


class ManifestTemplate:
    """One pod template with its path, its role and its number of pods. A Pod is its own
    template.
    """

    def __init__(
        self, path: Path, data: Json, role: str, replicas: int, main: str | None = None
    ) -> None:
        self.path = path
        """Path of the mapping that has `metadata` and `spec`."""
        self.data = data
        self.role = role
        """Replica type, task or replicatedJob; empty if the kind has one template."""
        self.replicas = replicas
        self.find: FindObject | None = None
        """Finds the ConfigMaps and Secrets of the stream, if it has some."""
        self.main_name = main
        """Name of the training container, if the operator prescribes one; None if it is the
        first.
        """

    @property
    def spec_path(self) -> Path:
        """Path of the pod's spec."""
        return (*self.path, "spec")

    @cached_property
    def spec(self) -> Json:
        """The pod's spec after admission, or an empty mapping."""
        return nested_map(self.data, "spec")

    @cached_property
    def volumes(self) -> dict[str, Written]:
        """The pod's volumes by name."""
        return {
            nested_string(volume, "name"): Written((*self.spec_path, "volumes", i), volume)
            for i, volume in _mappings(self.spec.get("volumes"))
        }

    @cached_property
    def containers(self) -> tuple[ManifestContainer, ...]:
        """All containers, init containers first. Items that are not mappings are left out."""
        return tuple(self._containers())

    @property
    def running_containers(self) -> list[ManifestContainer]:
        """All but the init containers."""
        return [container for container in self.containers if not container.is_init]

    @property
    def accelerators(self) -> int:
        """Number of accelerators, or slices, of all containers."""
        return sum(container.accelerators for container in self.containers)

    @cached_property
    def main_containers(self) -> tuple[ManifestContainer, ...]:
        """The training container: one, or none in a template without containers."""
        return tuple(container for container in self.containers if container.is_main)

    def _containers(self) -> Iterator[ManifestContainer]:
        """Yield the containers of the template, init containers first."""
        for key, init in (("initContainers", True), ("containers", False)):
            specs = _mappings(self.spec.get(key))
            main_index = next(
                (i for i, spec in specs if nested_string(spec, "name") == self.main_name),
                specs[0][0] if specs else -1,
            )
            for i, spec in specs:
                files = no_files
                if self.find is not None:
                    files = partial(_mounted_text, self.find, self.spec, spec)
                yield ManifestContainer(
                    (*self.spec_path, key, i),
                    spec,
                    init=init,
                    main=not init and i == main_index,
                    find=self.find,
                    files=files,
                )


def _mappings(value: object) -> list[tuple[int, Json]]:
    """Return the non-empty mappings of a list with their indexes."""
    return [(i, mapping) for i, mapping in indexed_mappings(value) if mapping]

"""The roles that train, where each launch option is written, and who meets whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptcompile._internal.lazy import Pattern, cached_property
from ptcompile.diagnostics import Edit, Path
from ptcompile.kubernetes.commands import basename
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import as_mappings, as_string, as_strings, nested_map
from ptcompile.linter.templates import ManifestTemplate
from ptcompile.linter.workload import WorkloadView, template_of
from ptcompile.registry.model import Kind
from ptcompile.registry.table import kind_named
from ptcompile.simulator.launchers.torchrun import option_variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.registry.pods import ExpandedRole
    from ptcompile.simulator.launchers.command import Invocation
    from ptcompile.simulator.launchers.rendezvous import Rendezvous
    from ptcompile.simulator.pod import Pod

    OptionSource = Literal["flag", "env", "operator", "default"]
    """Who gives an option of torchrun its value: the command line, the user's PET_* variable, the operator's,
    torchrun."""


PLAIN: dict[str, str] = {
    "nnodes": "WORLD_SIZE",
    "node-rank": "RANK",
    "master-addr": "MASTER_ADDR",
    "master-port": "MASTER_PORT",
}
"""What a script without a launcher reads (torch.distributed, env://), by torchrun's options; it counts processes."""


_LAUNCHERS = ("torch", "accelerate", "deepspeed", "composer", "tune")
_RENDEZVOUS_ENV = ("PET_", "MASTER_ADDR", "WORLD_SIZE")
_NAMES = Pattern(r"[\w.-]+")
_BRANCHES = Pattern(r"(?:^|[\s;&|(])(?:if|case|for|while|until|eval|source|function|\.)\s|\|\|")


class TrainingRole:
    """One role that trains: its first pod, and the container as it is written."""

    def __init__(
        self,
        role: ExpandedRole,
        pod: Pod,
        seen: Rendezvous,
        path: Path,
        spec: Json,
        kind: tuple[str, str],
        manifest: Json,
    ) -> None:
        self.role = role
        self.pod = pod
        self.seen = seen
        self.path = path
        """Of the container from the root of the object; of `spec.trainer` in a TrainJob."""
        self.spec = spec
        """What stands there: `command`, `args`, `env`, and in a container all the rest."""
        self.kind = kind
        self.manifest = manifest
        self.launch: Invocation = pod.launch
        """What its command line starts."""
        self.torchrun = seen.launcher == "torchrun"
        """Whether torchrun starts it, beyond doubt."""
        self.options: Mapping[str, str] = seen.options
        """All options as torchrun would hold them."""

    @property
    def starter(self) -> str:
        """Who starts the processes, in words."""
        return self.seen.launcher if self.seen.launcher != "command" else "the script"

    @property
    def by_python(self) -> bool:
        """Whether it is a Python script without a launcher."""
        words = self.launch.entry
        return self.seen.launcher == "command" and bool(words) and basename(words[0]).startswith("python")

    @property
    def plain(self) -> bool:
        """Whether it is a script without a launcher that is told of others by its variables (env://)."""
        return self.by_python and self.seen.backend == "env"

    @cached_property
    def modelled(self) -> bool:
        """Whether a launcher that is known here says in its own options how many nodes meet, and starts its own."""
        from ptcompile.simulator.launchers import LAUNCHERS

        options = self.launch.options
        if self.seen.launcher == "deepspeed" and "no-ssh" not in options:
            return False  # one deepspeed starts all nodes, over ssh
        counted = "nnodes" in options or "world-size" in options
        return self.torchrun or (self.seen.launcher in LAUNCHERS and counted and self.seen.backend != "none")

    def spelled(self, option: str) -> str:
        """What the launcher calls an option, dashed."""
        from ptcompile.simulator.launchers import LAUNCHERS

        dialect = LAUNCHERS.get(self.seen.launcher)
        if dialect is None:
            return option
        same = {"rdzv-endpoint": "master-addr", "nnodes": "world-size"}.get(option, option)
        return dialect.names.get(option) or dialect.names.get(same, option)

    @cached_property
    def unsure(self) -> bool:
        """Whether something that no file shows may change the launch: envFrom, or branches of a shell script."""
        main = self.pod.main
        if main is None or main.spec.get("envFrom"):
            return True
        if not self.launch.in_shell:
            return False
        return any(
            _BRANCHES.search(word)
            for word in (*as_strings(main.spec.get("command")), *as_strings(main.spec.get("args")))
        )

    @cached_property
    def local(self) -> bool:
        """Whether it meets at its own address, or at none."""
        from ptcompile.simulator.meeting import LOOPBACK_HOSTS

        return not self.seen.host or self.seen.host in LOOPBACK_HOSTS

    @cached_property
    def standalone(self) -> bool:
        """Whether torchrun is told to meet no other node, by --standalone or its variable."""
        if self.launch.launcher not in ("torchrun", "tune", "image"):
            return False
        said = self.launch.options.get("standalone", self.launch.env.get("PET_STANDALONE", "0"))
        return (atoi(said) or 0) != 0

    def origin(self, option: str) -> OptionSource:
        """Who gives an option its value."""
        if option in self.launch.options or (option == "nnodes" and "world-size" in self.launch.options):
            return "flag"
        name = self.variable(option)
        if name not in self.launch.env:
            return "default"
        if self.entry(name) is not None or name not in self.pod.env:
            return "env"
        return "operator"

    def variable(self, option: str) -> str:
        """The variable that the launcher, or the script without one, takes an option from."""
        if self.plain:
            return PLAIN.get(option, "")
        from ptcompile.simulator.launchers import LAUNCHERS

        dialect = LAUNCHERS.get(self.seen.launcher)
        return option_variable(option) if dialect is None else dialect.variables.get(option, "")

    def entry(self, name: str) -> int | None:
        """The index of the user's env entry that counts, None where there is none or the operator's comes later."""
        written = as_mappings(self.spec.get("env"))
        found = [i for i, entry in enumerate(written) if entry.get("name") == name]
        if not found:
            return None
        held = [entry for entry in (self.pod.main.env if self.pod.main else ()) if entry.get("name") == name]
        return found[-1] if held and held[-1] == written[found[-1]] else None

    def place(self, option: str) -> Path:
        """Where the value of an option is written: a word of the command, a variable, a field; else the container."""
        origin = self.origin(option)
        if origin == "flag":
            return self.word(option)
        name = self.variable(option)
        index = self.entry(name) if origin == "env" else None
        if index is not None:
            value = "value" in as_mappings(self.spec.get("env"))[index]
            return (*self.path, "env", index, "value") if value else (*self.path, "env", index)
        return self.field(option) or self.path

    def field(self, option: str) -> Path | None:
        """The operator's field that becomes this option, where the user wrote one."""
        for path in kind_named(self.kind).launch_fields.options.get(option, ()):
            if nested_map(self.manifest, *map(str, path[:-1])).get(str(path[-1])) is not None:
                return path
        return None

    def word(self, option: str) -> Path:
        """The word of the command line that names an option; the script, where it stands in a shell's."""
        spelled = self.spelled(option)
        if (path := self._named.get(spelled)) is not None:
            return path
        for path, word, names in self._dashed:
            if spelled in names or spelled in word:
                return path
        return self.line

    @cached_property
    def _named(self) -> dict[str, Path]:
        """The words that are options, by their dashed names: the first of each."""
        found: dict[str, Path] = {}
        for key, i, word in self.words():
            name = word.partition("=")[0]
            if name.startswith("-"):
                found.setdefault(name.lstrip("-").replace("_", "-"), (*self.path, key, i))
        return found

    @cached_property
    def _dashed(self) -> list[tuple[Path, str, frozenset[str]]]:
        """All words in dashes, and the names in each: to search a long script for each of its options takes long."""
        words = [((*self.path, key, i), word.replace("_", "-")) for key, i, word in self.words()]
        return [(path, word, frozenset(map(_undashed, _NAMES.findall(word)))) for path, word in words]

    def change(self, option: str, value: str) -> Edit | None:
        """The edit that gives an option another value where it is written; None where a script or nothing sets it."""
        now, path = self.options.get(option, ""), self.place(option)
        if self.origin(option) == "flag":
            return self._rewritten(path, now, value)
        if path == self.path or not isinstance(path[-1], str):
            return None
        if path == self.field(option):
            said = nested_map(self.manifest, *map(str, path[:-1])).get(path[-1])
        else:
            said = as_mappings(self.spec.get("env"))[int(path[-2])].get("value")
        number = isinstance(said, int) and not isinstance(said, bool) and value.isdigit()
        return Edit("set", path, int(value) if number else value) if str(said) == now else None

    def _rewritten(self, path: Path, now: str, value: str) -> Edit | None:
        """`--name=now` or the word behind `--name`, with another value."""
        found = [(key, i, word) for key, i, word in self.words() if (*self.path, key, i) == path]
        if not found:
            return None
        key, i, word = found[0]
        name, equals, said = word.partition("=")
        if equals:
            return Edit("set", path, f"{name}={value}") if said == now else None
        behind = [one for one in self.words() if one[:2] == (key, i + 1)]
        return Edit("set", (*self.path, key, i + 1), value) if behind and behind[0][2] == now else None

    @property
    def line(self) -> Path:
        """Where the command line is written: the command, else the arguments, else the container."""
        return next(((*self.path, key) for key in ("command", "args") if self.spec.get(key)), self.path)

    def words(self) -> list[tuple[str, int, str]]:
        """The words of `command` and `args` as written, each with where it stands."""
        return [
            (key, i, word)
            for key in ("command", "args")
            if isinstance(self.spec.get(key), list)
            for i, word in enumerate(self.spec[key])
            if isinstance(word, str)
        ]


def training_roles(subject: WorkloadView) -> tuple[TrainingRole, ...]:
    """The roles that train, each with the place where its container is written."""
    options = subject.record.launch_fields.options
    if not options and not any(launches(template) for template in subject.templates):
        return ()
    if subject.job is None or subject.job.expansion.refused:
        return ()
    found = []
    for role, pod, seen in subject.leads:
        written = _written(subject, role.name)
        if written is not None:
            found.append(TrainingRole(role, pod, seen, *written, subject.kind, subject.manifest))
    return tuple(found)


def launches(template: ManifestTemplate) -> bool:
    """Whether a template speaks of a launcher at all: most Pods do not, and need no simulation."""
    for container in template.mains:
        words = (*as_strings(container.spec.get("command")), *as_strings(container.spec.get("args")))
        if any(name in word for word in words for name in _LAUNCHERS):
            return True
        if any(
            as_string(entry.get("name")).startswith(_RENDEZVOUS_ENV) for entry in as_mappings(container.spec.get("env"))
        ):
            return True
    return False


def _undashed(name: str) -> str:
    return name.lstrip("-")


def count_nodes(found: tuple[TrainingRole, ...]) -> int:
    """How many pods train."""
    return sum([one.role.count for one in found])


def _written(subject: WorkloadView, role: str) -> tuple[Path, Json] | None:
    """The path and the content of the container that a role's pods train in."""
    if trainer := subject.record.launch_fields.container:
        return trainer, nested_map(subject.manifest, *trainer)
    template = template_of(subject, role)
    main = next(iter(template.mains), None) if template is not None else None
    return None if main is None else (main.path, main.spec)


Trainers = tuple[TrainingRole, ...]


def rendezvous_groups(subject: WorkloadView, found: Trainers) -> tuple[Trainers, ...]:
    """The trainers that are to meet one another, where the files decide all that their launchers read; else none.

    All of a PyTorchJob are one party, and all that Volcano's pytorch plugin gives a rank. In other kinds roles may be
    jobs of their own: those that name one endpoint are one party.
    """
    return _grouped(subject, found, lambda one: one.modelled)


def torchrun_groups(found: Trainers, grouped: tuple[Trainers, ...]) -> tuple[Trainers, ...]:
    """The groups where torchrun starts all trainers; else none."""
    return grouped if all(one.torchrun for one in found) else ()


def env_groups(subject: WorkloadView, found: Trainers) -> tuple[Trainers, ...]:
    """As `parties`, of scripts without a launcher that the user's own variables tell of others (env://)."""
    return _grouped(subject, found, lambda one: one.plain and one.entry("MASTER_ADDR") is not None)


def _grouped(subject: WorkloadView, found: Trainers, wanted: Callable[[TrainingRole], bool]) -> tuple[Trainers, ...]:
    if not found or not all(wanted(one) and not one.unsure for one in found):
        return ()
    if subject.base is not None and subject.base.assumed:
        return ()
    out: dict[tuple[str, ...], list[TrainingRole]] = {}
    for one in found:
        out.setdefault(_party(one, subject.record), []).append(one)
    return tuple(tuple(members) for members in out.values())


def _party(one: TrainingRole, kind: Kind) -> tuple[str, ...]:
    meeting = kind.meeting
    if meeting.all_pods or (meeting.ranked_by and one.pod.env.keys() >= set(meeting.ranked_by)):
        return ()
    alone = one.local or one.standalone
    return (one.role.name,) if alone else (one.seen.backend, one.seen.endpoint, one.options.get("rdzv-id", ""))

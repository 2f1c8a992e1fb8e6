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


ENV_VARIABLES: dict[str, str] = {
    "nnodes": "WORLD_SIZE",
    "node-rank": "RANK",
    "master-addr": "MASTER_ADDR",
    "master-port": "MASTER_PORT",
}
"""What a script without a launcher reads (torch.distributed, env://), by torchrun's options; it counts processes."""


_LAUNCHER_NAMES = ("torch", "accelerate", "deepspeed", "composer", "tune")
_RENDEZVOUS_PREFIXES = ("PET_", "MASTER_ADDR", "WORLD_SIZE")
_OPTION_NAMES = Pattern(r"[\w.-]+")
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
        self.expanded = role
        self.pod = pod
        self.rendezvous = seen
        self.path = path
        """Of the container from the root of the object; of `spec.trainer` in a TrainJob."""
        self.spec = spec
        """What stands there: `command`, `args`, `env`, and in a container all the rest."""
        self.kind = kind
        self.manifest = manifest
        self.launch: Invocation = pod.launch
        """What its command line starts."""
        self.is_torchrun = seen.launcher == "torchrun"
        """Whether torchrun starts it, beyond doubt."""
        self.options: Mapping[str, str] = seen.options
        """All options as torchrun would hold them."""

    @property
    def launcher_name(self) -> str:
        """Who starts the processes, in words."""
        return self.rendezvous.launcher if self.rendezvous.launcher != "command" else "the script"

    @property
    def is_python_script(self) -> bool:
        """Whether it is a Python script without a launcher."""
        words = self.launch.entry
        return self.rendezvous.launcher == "command" and bool(words) and basename(words[0]).startswith("python")

    @property
    def is_env_script(self) -> bool:
        """Whether it is a script without a launcher that is told of others by its variables (env://)."""
        return self.is_python_script and self.rendezvous.backend == "env"

    @cached_property
    def is_modeled(self) -> bool:
        """Whether a launcher that is known here says in its own options how many nodes meet, and starts its own."""
        from ptcompile.simulator.launchers import LAUNCHERS

        options = self.launch.options
        if self.rendezvous.launcher == "deepspeed" and "no-ssh" not in options:
            return False  # one deepspeed starts all nodes, over ssh
        counted = "nnodes" in options or "world-size" in options
        return self.is_torchrun or (
            self.rendezvous.launcher in LAUNCHERS and counted and self.rendezvous.backend != "none"
        )

    def option_name(self, option: str) -> str:
        """What the launcher calls an option, dashed."""
        from ptcompile.simulator.launchers import LAUNCHERS

        dialect = LAUNCHERS.get(self.rendezvous.launcher)
        if dialect is None:
            return option
        same = {"rdzv-endpoint": "master-addr", "nnodes": "world-size"}.get(option, option)
        return dialect.names.get(option) or dialect.names.get(same, option)

    @cached_property
    def is_uncertain(self) -> bool:
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
    def is_local(self) -> bool:
        """Whether it meets at its own address, or at none."""
        from ptcompile.simulator.meeting import LOOPBACK_HOSTS

        return not self.rendezvous.host or self.rendezvous.host in LOOPBACK_HOSTS

    @cached_property
    def is_standalone(self) -> bool:
        """Whether torchrun is told to meet no other node, by --standalone or its variable."""
        if self.launch.launcher not in ("torchrun", "tune", "image"):
            return False
        said = self.launch.options.get("standalone", self.launch.env.get("PET_STANDALONE", "0"))
        return (atoi(said) or 0) != 0

    def source_of(self, option: str) -> OptionSource:
        """Who gives an option its value."""
        if option in self.launch.options or (option == "nnodes" and "world-size" in self.launch.options):
            return "flag"
        name = self.variable(option)
        if name not in self.launch.env:
            return "default"
        if self.env_index(name) is not None or name not in self.pod.env:
            return "env"
        return "operator"

    def variable(self, option: str) -> str:
        """The variable that the launcher, or the script without one, takes an option from."""
        if self.is_env_script:
            return ENV_VARIABLES.get(option, "")
        from ptcompile.simulator.launchers import LAUNCHERS

        dialect = LAUNCHERS.get(self.rendezvous.launcher)
        return option_variable(option) if dialect is None else dialect.variables.get(option, "")

    def env_index(self, name: str) -> int | None:
        """The index of the user's env entry that counts, None where there is none or the operator's comes later."""
        written = as_mappings(self.spec.get("env"))
        found = [i for i, entry in enumerate(written) if entry.get("name") == name]
        if not found:
            return None
        held = [entry for entry in (self.pod.main.env if self.pod.main else ()) if entry.get("name") == name]
        return found[-1] if held and held[-1] == written[found[-1]] else None

    def path_of(self, option: str) -> Path:
        """Where the value of an option is written: a word of the command, a variable, a field; else the container."""
        origin = self.source_of(option)
        if origin == "flag":
            return self.flag_path(option)
        name = self.variable(option)
        index = self.env_index(name) if origin == "env" else None
        if index is not None:
            value = "value" in as_mappings(self.spec.get("env"))[index]
            return (*self.path, "env", index, "value") if value else (*self.path, "env", index)
        return self.operator_field(option) or self.path

    def operator_field(self, option: str) -> Path | None:
        """The operator's field that becomes this option, where the user wrote one."""
        for path in kind_named(self.kind).launch_fields.options.get(option, ()):
            if nested_map(self.manifest, *map(str, path[:-1])).get(str(path[-1])) is not None:
                return path
        return None

    def flag_path(self, option: str) -> Path:
        """The word of the command line that names an option; the script, where it stands in a shell's."""
        spelled = self.option_name(option)
        if (path := self._flag_paths.get(spelled)) is not None:
            return path
        for path, word, names in self._dashed_tokens:
            if spelled in names or spelled in word:
                return path
        return self.command_path

    @cached_property
    def _flag_paths(self) -> dict[str, Path]:
        """The words that are options, by their dashed names: the first of each."""
        found: dict[str, Path] = {}
        for key, i, word in self.indexed_tokens():
            name = word.partition("=")[0]
            if name.startswith("-"):
                found.setdefault(name.lstrip("-").replace("_", "-"), (*self.path, key, i))
        return found

    @cached_property
    def _dashed_tokens(self) -> list[tuple[Path, str, frozenset[str]]]:
        """All words in dashes, and the names in each: to search a long script for each of its options takes long."""
        words = [((*self.path, key, i), word.replace("_", "-")) for key, i, word in self.indexed_tokens()]
        return [(path, word, frozenset(map(_strip_dashes, _OPTION_NAMES.findall(word)))) for path, word in words]

    def edit_to(self, option: str, value: str) -> Edit | None:
        """The edit that gives an option another value where it is written; None where a script or nothing sets it."""
        now, path = self.options.get(option, ""), self.path_of(option)
        if self.source_of(option) == "flag":
            return self._flag_edit(path, now, value)
        if path == self.path or not isinstance(path[-1], str):
            return None
        if path == self.operator_field(option):
            said = nested_map(self.manifest, *map(str, path[:-1])).get(path[-1])
        else:
            said = as_mappings(self.spec.get("env"))[int(path[-2])].get("value")
        number = isinstance(said, int) and not isinstance(said, bool) and value.isdigit()
        return Edit("set", path, int(value) if number else value) if str(said) == now else None

    def _flag_edit(self, path: Path, now: str, value: str) -> Edit | None:
        """`--name=now` or the word behind `--name`, with another value."""
        found = [(key, i, word) for key, i, word in self.indexed_tokens() if (*self.path, key, i) == path]
        if not found:
            return None
        key, i, word = found[0]
        name, equals, said = word.partition("=")
        if equals:
            return Edit("set", path, f"{name}={value}") if said == now else None
        behind = [one for one in self.indexed_tokens() if one[:2] == (key, i + 1)]
        return Edit("set", (*self.path, key, i + 1), value) if behind and behind[0][2] == now else None

    @property
    def command_path(self) -> Path:
        """Where the command line is written: the command, else the arguments, else the container."""
        return next(((*self.path, key) for key in ("command", "args") if self.spec.get(key)), self.path)

    def indexed_tokens(self) -> list[tuple[str, int, str]]:
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
    if not options and not any(mentions_launcher(template) for template in subject.templates):
        return ()
    if subject.job is None or subject.job.expansion.refused:
        return ()
    found = []
    for role, pod, seen in subject.leads:
        written = _written_container(subject, role.name)
        if written is not None:
            found.append(TrainingRole(role, pod, seen, *written, subject.kind, subject.manifest))
    return tuple(found)


def mentions_launcher(template: ManifestTemplate) -> bool:
    """Whether a template speaks of a launcher at all: most Pods do not, and need no simulation."""
    for container in template.main_containers:
        words = (*as_strings(container.spec.get("command")), *as_strings(container.spec.get("args")))
        if any(name in word for word in words for name in _LAUNCHER_NAMES):
            return True
        if any(
            as_string(entry.get("name")).startswith(_RENDEZVOUS_PREFIXES)
            for entry in as_mappings(container.spec.get("env"))
        ):
            return True
    return False


def _strip_dashes(name: str) -> str:
    return name.lstrip("-")


def count_nodes(found: tuple[TrainingRole, ...]) -> int:
    """How many pods train."""
    return sum([one.expanded.count for one in found])


def _written_container(subject: WorkloadView, role: str) -> tuple[Path, Json] | None:
    """The path and the content of the container that a role's pods train in."""
    if trainer := subject.record.launch_fields.container:
        return trainer, nested_map(subject.manifest, *trainer)
    template = template_of(subject, role)
    main = next(iter(template.main_containers), None) if template is not None else None
    return None if main is None else (main.path, main.spec)


TrainingRoles = tuple[TrainingRole, ...]


def rendezvous_groups(subject: WorkloadView, found: TrainingRoles) -> tuple[TrainingRoles, ...]:
    """The trainers that are to meet one another, where the files decide all that their launchers read; else none.

    All of a PyTorchJob are one party, and all that Volcano's pytorch plugin gives a rank. In other kinds roles may be
    jobs of their own: those that name one endpoint are one party.
    """
    return _group(subject, found, lambda one: one.is_modeled)


def torchrun_groups(found: TrainingRoles, grouped: tuple[TrainingRoles, ...]) -> tuple[TrainingRoles, ...]:
    """The groups where torchrun starts all trainers; else none."""
    return grouped if all(one.is_torchrun for one in found) else ()


def env_groups(subject: WorkloadView, found: TrainingRoles) -> tuple[TrainingRoles, ...]:
    """As `parties`, of scripts without a launcher that the user's own variables tell of others (env://)."""
    return _group(subject, found, lambda one: one.is_env_script and one.env_index("MASTER_ADDR") is not None)


def _group(
    subject: WorkloadView, found: TrainingRoles, wanted: Callable[[TrainingRole], bool]
) -> tuple[TrainingRoles, ...]:
    if not found or not all(wanted(one) and not one.is_uncertain for one in found):
        return ()
    if subject.base is not None and subject.base.assumed:
        return ()
    out: dict[tuple[str, ...], list[TrainingRole]] = {}
    for one in found:
        out.setdefault(_group_key(one, subject.record), []).append(one)
    return tuple(tuple(members) for members in out.values())


def _group_key(one: TrainingRole, kind: Kind) -> tuple[str, ...]:
    meeting = kind.meeting
    if meeting.all_pods or (meeting.ranked_by and one.pod.env.keys() >= set(meeting.ranked_by)):
        return ()
    alone = one.is_local or one.is_standalone
    return (
        (one.expanded.name,)
        if alone
        else (one.rendezvous.backend, one.rendezvous.endpoint, one.options.get("rdzv-id", ""))
    )

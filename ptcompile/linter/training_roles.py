"""Training roles, and where each of their launch options is written; the simulator decides which
roles meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.lazy import Pattern, cached_property
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import get, nested_map
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.simulator.launchers.rendezvous import STANDALONE, Rendezvous
from ptcompile.simulator.launchers.torchrun import is_int, option_name
from ptcompile.simulator.meeting import Meeting, MeetingMember, torch_of_pod
from ptcompile.world.templates import EnvEntry, ManifestTemplate
from ptcompile.world.workload import Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.kinds.pods import ExpandedRole
    from ptcompile.simulator.launchers.command import Invocation
    from ptcompile.simulator.launchers.misread import MisreadWord
    from ptcompile.simulator.obstacles import Obstacle
    from ptcompile.simulator.pod import Pod

    OptionSource = Literal["flag", "env", "operator", "default"]
    """What sets an option: the command line, the user's PET_* variable, the operator's, or
    torchrun's default.
    """


_LAUNCHER_NAMES = (
    *(
        "torch",
        "accelerate",
        "deepspeed",
        "composer",
        "tune",
        "hyperpodrun",
        "ft_launcher",
        "colossalai",
        "axolotl",
    ),
    *("llamafactory", "swift", "lmf", "megatron"),
)
_RENDEZVOUS_PREFIXES = ("PET_", "MASTER_ADDR", "WORLD_SIZE")
_OPTION_NAMES = Pattern(r"[\w.-]+")


class TrainingRole:
    """One training role: its first pod, and its container as written."""

    def __init__(
        self,
        member: MeetingMember,
        meeting: Meeting,
        template: ManifestTemplate,
        workload: Workload,
    ) -> None:
        self.member = member
        """The role as a member of its meeting."""
        self.meeting = meeting
        """The roles of the object that meet it."""
        self.expanded: ExpandedRole = member.role
        self.pod: Pod = member.pod
        self.rendezvous: Rendezvous = member.rendezvous
        self.template = template
        self.container = container = template.main_containers[0]
        self.path = container.path
        """Path of the container in the object that the pods are made of."""
        self.spec = container.spec
        """The container, with `command`, `args` and `env`."""
        self.unset_path: Path = workload.record.launch_fields.container or container.path
        """Where to report what nothing sets: the container, or, in a TrainJob, `spec.trainer`."""
        self.manifest = workload.manifest
        self.option_fields = workload.record.launch_fields.options
        """The fields of the manifest that the operator turns into options of torchrun."""
        self._made = workload.made
        self._origins = workload.origins
        self.launch: Invocation = member.pod.launch
        """What the command line starts."""
        self.is_torchrun = member.rendezvous.launcher == "torchrun"
        """Whether torchrun certainly starts the processes."""
        self.options: Mapping[str, str] = member.rendezvous.options
        """All options with their values as torchrun would read them."""

    @property
    def launcher_name(self) -> str:
        """The launcher's name in messages, or "the script"."""
        if self.rendezvous.launcher != "command":
            return self.rendezvous.launcher
        return "the script"

    @cached_property
    def misread_word(self) -> MisreadWord | None:
        """The word by which the launch certainly starts something else than was meant, or None."""
        from ptcompile.simulator.launchers.misread import misread_word

        return misread_word(self.launch)

    @cached_property
    def misplaced_options(self) -> tuple[str, ...]:
        """The launcher's options, as written, that are after the script, which gets them
        instead.
        """
        from ptcompile.simulator.launchers.misread import misplaced_options

        return misplaced_options(self.launch)

    def is_uncertain(self, *options: str) -> bool:
        """Return whether something outside the files may change the launch, or one of these options
        if any are given. Options that the launcher gets at the wrong place count too: the misplaced
        options are reported instead.
        """
        return bool(self.misplaced_options) or self.member.is_uncertain(*options)

    @cached_property
    def installs_packages(self) -> bool:
        """Whether a shell script may install another PyTorch before it starts the launcher."""
        return self.launch.in_shell and any(
            "install" in token.text for token in self.container.argv
        )

    @property
    def restarts(self) -> int:
        """How often torchrun restarts its processes; 0 if that is not a number."""
        written = self.rendezvous.max_restarts
        return int(written) if is_int(written) else 0

    @property
    def is_local(self) -> bool:
        """Whether the role's pods meet no other pod of the object: each names itself, or
        nothing.
        """
        return self.meeting.is_local

    @property
    def meets_by_c10d(self) -> bool:
        """Whether the role's pods meet others by c10d."""
        return self.rendezvous.backend == "c10d" and not self.is_local

    @property
    def is_standalone(self) -> bool:
        """Whether --standalone, its variable or tune keeps torchrun from meeting other nodes."""
        return STANDALONE.items() <= self.options.items()

    def source_of(self, option: str) -> OptionSource:
        """Return what sets the option's value."""
        if self.member.is_passed(option):
            return "flag"
        name = self.member.variable(option)
        if name not in self.launch.env:
            return "default"
        if self.user_entry(name) is not None or name not in self.pod.env:
            return "env"
        return "operator"

    def user_entry(self, name: str) -> EnvEntry | None:
        """Return the variable that the user sets, or None if the operator sets it or nothing
        does.
        """
        entry = next((entry for entry in self.container.variables if entry.name == name), None)
        if entry is None:
            return None
        place = self._origins.at(entry.path) if self._origins is not None else None
        if place is not None and place.writer and place.source is None:
            return None

        in_pod = [item for item in self.pod.env_entries if item.get("name") == name]
        if not in_pod:
            return entry if "envFrom" in entry.path else None
        if in_pod[-1] == get(self.spec, entry.path[len(self.path) :]):
            return entry

        return None

    def path_of(self, option: str) -> Path:
        """Return the path of an option's value: an argument, a variable or a field; else the
        container's.
        """
        source = self.source_of(option)
        if source == "flag":
            return self.flag_path(option)

        name = self.member.variable(option)
        entry = self.user_entry(name) if source == "env" else None
        if entry is not None:
            return entry.path if entry.value is None else entry.value_path
        if source == "env" and self.launch.in_shell:
            # the script sets the variable
            return self.container.script_path

        return self.operator_field(option) or self.unset_path

    def path_or_command(self, option: str) -> Path:
        """Return the path of an option's value, or of the command line if nothing sets the
        option.
        """
        path = self.path_of(option)
        return self.command_path if path == self.unset_path else path

    @property
    def endpoint_path(self) -> Path:
        """The path of the endpoint's value."""
        return self.path_of("rdzv-endpoint" if self.options.get("rdzv-endpoint") else "master-addr")

    def operator_field(self, option: str) -> Path | None:
        """Return the path of the operator's field that becomes this option, or None if the user
        did not set it.
        """
        for path in self.option_fields.get(option, ()):
            if nested_map(self.manifest, *map(str, path[:-1])).get(str(path[-1])) is not None:
                return path
        return None

    def flag_path(self, option: str) -> Path:
        """Return the path of the argument that names the option, or of the script that contains
        it.
        """
        name = self.member.option_name(option)
        if (path := self._flag_paths.get(name)) is not None:
            return path
        for path, token, names in self._dashed_tokens:
            if name in names or name in token:
                return path
        return self.command_path

    def path_of_word(self, word: str) -> Path:
        """Return the path of the argument that is this word, or of the script that contains it."""
        for path, token in self.container.argv:
            if word in (token, token.partition("=")[0]):
                return path
        for path, token in self.container.argv:
            if word in token:
                return path
        return self.container.script_path if self.launch.in_shell else self.command_path

    @cached_property
    def _flag_paths(self) -> dict[str, Path]:
        """The first argument for each option, keyed by dashed name."""
        paths: dict[str, Path] = {}
        for path, token in self.container.argv:
            name, _, _ = token.partition("=")
            if name.startswith("-"):
                if self.is_torchrun:
                    dashed = option_name(name)
                else:
                    dashed = name.lstrip("-").replace("_", "-")
                paths.setdefault(dashed, path)

        return paths

    @cached_property
    def _dashed_tokens(self) -> list[tuple[Path, str, frozenset[str]]]:
        """All tokens with dashes for underscores, and the option names in each. Computed once:
        scripts may be long.
        """
        tokens = [(path, token.replace("_", "-")) for path, token in self.container.argv]
        return [
            (path, token, frozenset(name.lstrip("-") for name in _OPTION_NAMES.findall(token)))
            for path, token in tokens
        ]

    def fix_to(self, option: str, value: str, title: str, *, safe: bool = False) -> Fix | None:
        """Return the fix that sets the option where it is written, or None if a script or
        nothing sets it.
        """
        edit = self._edit_to(option, value)
        return Fix(title, (edit,), safe) if edit is not None else None

    def _edit_to(self, option: str, value: str) -> Edit | None:
        current = self.options.get(option, "")
        path = self.path_of(option)
        if self.source_of(option) == "flag":
            return self._flag_edit(path, current, value)
        if path == self.unset_path or not isinstance(path[-1], str):
            return None

        written = get(self._made, path, get(self.manifest, path))
        is_number = isinstance(written, int) and not isinstance(written, bool) and value.isdigit()
        if str(written) == current:
            return Edit("set", path, int(value) if is_number else value)

        return None

    def _flag_edit(self, path: Path, current: str, value: str) -> Edit | None:
        """Return the edit of `--name=current`, or of the argument after `--name`, or None."""
        texts = dict(reversed(self.container.argv))
        name, equals, written = texts.get(path, "").partition("=")
        if equals:
            if written == current:
                return Edit("set", path, f"{name}={value}")
            return None

        following = (*path[:-1], int(path[-1]) + 1) if path in texts else ()
        if texts.get(following) == current:
            return Edit("set", following, value)

        return None

    @property
    def command_path(self) -> Path:
        """The path of the command line: of the command, else of the arguments, else
        `unset_path`.
        """
        return next(
            ((*self.path, key) for key in ("command", "args") if self.spec.get(key)),
            self.unset_path,
        )


def every_training_role(subject: Workload) -> TrainingRoles:
    """Return the training roles, each with the path of its container, even if a word of the
    launch is misread.
    """
    options = subject.record.launch_fields.options
    if not options and not any(mentions_launcher(template) for template in subject.templates):
        return ()
    if subject.job is None or subject.job.expansion.refused:
        return ()

    templates = {id(role.pod): role.template for role in subject.roles}
    roles = []
    for meeting in subject.job.meetings:
        for member in meeting.members:
            template = templates.get(id(member.pod))
            if template is not None and template.main_containers:
                roles.append(TrainingRole(member, meeting, template, subject))

    return tuple(roles)


def torch_version(role: TrainingRole, versions: Versions) -> Version:
    """Return the PyTorch version of a role's image, or the profile's."""
    return torch_of_pod(role.pod, versions)


def image_path(role: TrainingRole) -> Path:
    """Return the path of the role's image; in a TrainJob, whose runtime has the image, that of
    the command.
    """
    if "image" not in role.spec:
        return role.command_path
    return (*role.path, "image")


def mentions_launcher(template: ManifestTemplate) -> bool:
    """Return whether a template mentions a launcher; most Pods do not and need no simulation."""
    for container in template.main_containers:
        if any(name in token for token in container.tokens for name in _LAUNCHER_NAMES):
            return True
        if any(entry.name.startswith(_RENDEZVOUS_PREFIXES) for entry in container.variables):
            return True
    return False


def count_nodes(roles: TrainingRoles) -> int:
    """Return how many pods train."""
    return sum([role.expanded.count for role in roles])


TrainingRoles = tuple[TrainingRole, ...]


def rendezvous_groups(subject: Workload, roles: TrainingRoles) -> tuple[TrainingRoles, ...]:
    """Return the groups of roles that should meet; empty unless the files determine everything
    their launchers read.
    """
    if all(role.member.is_modeled for role in roles):
        return _groups(subject, roles)
    return ()


def env_groups(subject: Workload, roles: TrainingRoles) -> tuple[TrainingRoles, ...]:
    """Return the groups of scripts without a launcher whose variables the user sets (env://)."""
    is_set = all(
        role.member.is_env_script and role.user_entry("MASTER_ADDR") is not None for role in roles
    )
    return _groups(subject, roles) if is_set else ()


def _groups(subject: Workload, roles: TrainingRoles) -> tuple[TrainingRoles, ...]:
    """Return the roles of each gathering of the job; empty if something outside the files may
    change a gathering.
    """
    is_assumed = subject.base is not None and subject.base.assumed
    if not roles or subject.job is None or is_assumed:
        return ()

    gatherings = subject.job.gatherings
    if not all(gathering.is_settled for gathering in gatherings):
        return ()

    role_of = {id(role.member): role for role in roles}
    members = [[id(member) for member in gathering.members] for gathering in gatherings]

    return tuple(
        tuple(role_of[member] for member in group if member in role_of) for group in members
    )


class RoleObstacle(NamedTuple):
    """Something that keeps roles from meeting, and the role whose setting is the cause."""

    role: TrainingRole
    obstacle: Obstacle


def obstacles_of(subject: Workload, roles: TrainingRoles) -> Iterator[RoleObstacle]:
    """Yield what keeps the roles from meeting."""
    if subject.job is None:
        return

    role_of = {id(role.member): role for role in roles}
    for obstacle in subject.job.obstacles:
        role = role_of.get(id(obstacle.member))
        if role is not None:
            is_certain = obstacle.is_certain and not role.misplaced_options
            yield RoleObstacle(role, obstacle._replace(is_certain=is_certain))

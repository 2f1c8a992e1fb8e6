"""The interface of every rule: its subject, its findings, and the rule itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import Any, NamedTuple, cast
from ptcompile.diagnostics import (
    Authority,
    Edit,
    Fix,
    Path,
    Severity,
    Stage,
    field_path,
    message_at,
)
from ptcompile.kinds.model import Kind, LostPod, is_overridden
from ptcompile.kinds.templates import Template as WrittenTemplate
from ptcompile.kubernetes.unstructured import Json, nested_map, object_name
from ptcompile.operators.pod import POD_RULES
from ptcompile.world.templates import EnvEntry, ManifestTemplate
from ptcompile.world.workload import Stream, Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ptcompile.kinds.pods import Place
    from ptcompile.linter.training_roles import RoleObstacle, TrainingRoles
    from ptcompile.simulator.launchers.rendezvous import Rendezvous
    from ptcompile.world.origin import WrittenPlace

    T = TypeVar("T")


NODE_RULES = ("fits-no-machine", "larger-than-pools")
"""The rules about the nodes that take a pod."""


class Subject(Workload):
    """One object of a stream. Rules share what is derived here; nothing is derived twice."""

    def metadata_parts(self) -> Iterator[tuple[Path, Json]]:
        """Yield the metadata of the object and of its pod templates, each with its path."""
        yield ("metadata",), self.metadata
        for template in self.templates:
            yield (*template.path, "metadata"), nested_map(template.data, "metadata")

    def cached(self, compute: Callable[[Subject], T]) -> T:
        """Return `compute(self)`, computed once. The rules of one operator share such results."""
        cache = self._cache
        if compute not in cache:
            cache[compute] = compute(self)
        return cast("T", cache[compute])

    @cached_property
    def _cache(self) -> dict[Callable[[Subject], object], object]:
        return {}

    @cached_property
    def texts(self) -> frozenset[str]:
        """All keys and texts of the object, each once."""
        return self.stream.texts_of(self.manifest)

    @cached_property
    def variables(self) -> list[EnvEntry]:
        """The variables that the processes of all containers see."""
        return [entry for container in self.containers for entry in container.variables]

    @property
    def replicas(self) -> int:
        """The number of pods of all templates."""
        return sum(template.replicas for template in self.templates)

    def lost_pod(self, role: str) -> LostPod | None:
        """Return what the operator does when it loses a pod of a role, or None if unknown."""
        return self.record.lost_pod(self.manifest, role, self.objects)

    def place_of(self, path: Path) -> WrittenPlace | None:
        """Return where the value at a path in `made` was written, or None if it is in this object
        at this path.
        """
        return self.origins.at(path) if self.origins is not None else None

    def placed(self, finding: Finding, rule: Rule) -> Finding | None:
        """Return a finding about a value that the file does not have at its path at the nearest
        field, with its writer; one about a script in a ConfigMap names the key.

        None if the object that has the value has the finding too, or if no file and no release has
        that object.
        """
        if finding.path in self.mounted_scripts:
            finding = finding._replace(
                text=f"{finding.text} ({self.mounted_scripts[finding.path]})"
            )

        place = self.place_of(finding.path)
        source = place.source if place is not None else None
        if self.certainty != "stream" and (source is not None or rule.is_about_pods):
            if self.certainty == "assumed":
                return None
            finding = finding._replace(severity="note")
        elif source is not None and _has_finding(rule, source, self.stream):
            return None
        if place is None:
            return finding

        if not place.writer:
            return finding._replace(path=place.path, fix=self._placed_fix(finding.fix))

        setter = f"{self._name_of(place.value)} is set by {place.writer}"
        return finding._replace(path=place.path, setter=setter, source=source, fix=None)

    @cached_property
    def mounted_scripts(self) -> dict[Path, str]:
        """Where a container runs a script of a ConfigMap, by the path of the file's name."""
        from ptcompile.simulator.mounted import mounted_path

        places: dict[Path, str] = {}
        for template in self.templates:
            for container in template.containers:
                call = container.mounted_script
                if call is None:
                    continue
                mounted = mounted_path(template.spec, container.spec, call.file)
                file = mounted.file(self.find) if mounted is not None else None
                if file is not None:
                    places[container.script_path] = (
                        f"key {file.key} of ConfigMap/{object_name(file.source)}"
                    )

        return places

    def _name_of(self, value: Path) -> str:
        """Return a value in a sentence: by its path in the pods of a role, or below the field
        that is reported.
        """
        for template in self.templates if self.made is not self.manifest else ():
            if value[: len(template.path)] == template.path:
                below = field_path(value[len(template.path) :]) or "the template"
                return f"{below} of the {template.role} pods"
        return field_path(value)

    def _placed_fix(self, fix: Fix | None) -> Fix | None:
        """Return a fix with the paths of the file, or None if it changes what this object does
        not have.
        """
        if fix is None:
            return None

        edits = []
        for edit in fix.edits:
            place = self.place_of(edit.path)
            if place is not None and place.writer:
                return None
            edits.append(edit if place is None else edit._replace(path=place.path))
        return fix._replace(edits=tuple(edits))

    @cached_property
    def every_training_role(self) -> TrainingRoles:
        """Training roles, each as its first pod sees it; empty for a kind or a job without pods."""
        from ptcompile.linter.training_roles import every_training_role

        return every_training_role(self)

    @cached_property
    def training_roles(self) -> TrainingRoles:
        """Training roles whose launcher reads what was meant: of others only the misread word is
        of interest.
        """
        return tuple([role for role in self.every_training_role if role.misread_word is None])

    @cached_property
    def torchrun_roles(self) -> TrainingRoles:
        """Training roles that torchrun certainly starts."""
        return tuple([role for role in self.training_roles if role.is_torchrun])

    @cached_property
    def torchrun_groups(self) -> tuple[TrainingRoles, ...]:
        """Groups of torchrun's roles that should meet; empty if the files do not settle it."""
        if self.torchrun_roles == self.training_roles:
            return self.rendezvous_groups
        return ()

    @cached_property
    def rendezvous_groups(self) -> tuple[TrainingRoles, ...]:
        """Groups of roles that should meet, for every modeled launcher; empty if the files do
        not settle it.
        """
        from ptcompile.linter.training_roles import rendezvous_groups

        return rendezvous_groups(self, self.training_roles)

    @cached_property
    def env_groups(self) -> tuple[TrainingRoles, ...]:
        """Groups of scripts without a launcher that should meet (env://); empty if the files do
        not settle it.
        """
        from ptcompile.linter.training_roles import env_groups

        return env_groups(self, self.training_roles)

    @cached_property
    def obstacles(self) -> tuple[RoleObstacle, ...]:
        """What keeps roles that should meet from it; empty if the files do not settle which
        roles should.
        """
        from ptcompile.linter.training_roles import obstacles_of

        if self.rendezvous_groups or self.env_groups:
            return tuple(obstacles_of(self, self.training_roles))
        return ()

    def obstacles_named(self, name: str) -> Iterator[RoleObstacle]:
        """Yield the obstacles that the rule of this name reports."""
        return (item for item in self.obstacles if item.obstacle.name == name)

    @cached_property
    def lacks_rendezvous(self) -> bool:
        """Whether the operator gives the pods no rendezvous at all, which one of its rules
        reports.
        """
        if not is_overridden(self.record, Kind.lacks_rendezvous):
            return False
        return self.record.lacks_rendezvous(self.manifest, self.launch_options)

    @property
    def launch_options(self) -> Mapping[str, str]:
        """The launcher's options in the first role that trains; empty without such a role."""
        for role in self.training_roles:
            return role.launch.options
        return {}

    @cached_property
    def waiting_roles(self) -> dict[str, Rendezvous]:
        """The rendezvous of each training role whose pods wait for others before they train, by
        role name.
        """
        meetings = self.job.meetings if self.job is not None else ()
        members = [member for meeting in meetings for member in meeting.members]
        return {
            member.role.name: member.rendezvous
            for member in members
            if member.rendezvous.nodes is not None and member.rendezvous.nodes.least > 1
        }

    @cached_property
    def min_nodes_to_start(self) -> int:
        """How many pods wait for one another before they train; 1 if they train alone or that is
        unknown.
        """
        return max(
            (
                rendezvous.nodes.least
                for rendezvous in self.waiting_roles.values()
                if rendezvous.nodes
            ),
            default=1,
        )


def _has_finding(rule: Rule, place: Place, stream: Stream) -> bool:
    """Return whether a rule finds the same in another object of the stream."""
    from ptcompile.linter import rules_of

    subject = subject_of(place.manifest, stream)
    return rule in rules_of(subject.kind) and any(
        finding.path == place.path for finding in rule.check(subject)
    )


def subject_of(manifest: Json, stream: Stream) -> Subject:
    """Return the `Subject` of an object of the stream. It is shared by all rules that read other
    objects.
    """
    key = id(manifest)
    if key not in stream.subjects:
        stream.subjects[key] = Subject(manifest, stream=stream)
    return cast("Subject", stream.subjects[key])


def drop_subject(subject: Subject) -> None:
    """Free an object whose rules have run; a long stream would keep every container."""
    subject.stream.subjects.pop(id(subject.manifest), None)
    job = subject.__dict__.pop("job", None)
    if job is not None:
        from ptcompile.simulator.job import drop_job

        drop_job(job)


def is_recreated(subject: Subject, template: ManifestTemplate) -> bool | None:
    """Return whether lost pods of the template are recreated, or None if that is unknown for
    this kind.
    """
    written = WrittenTemplate(
        template.path, template.data, template.role, template.replicas, template.main_name
    )
    recreates = subject.record.recreates(subject.manifest, written)
    if recreates is None and subject.record.launch_fields.container:  # the runtime decides
        lost = subject.lost_pod(template.role)
        return None if lost is None else lost.recreated != "none"
    return recreates


_POD_FAMILIES = frozenset(POD_RULES) - {"linter.rules.image"}


class Finding(NamedTuple):
    """One finding of a rule. The runner adds the rule's name, stage, authority and severity."""

    path: Path
    """Path from the root of the object; `on_key` points at its last key instead of the value."""
    text: str
    """One sentence, without the field that it begins with."""
    help: str | None = None
    """How to fix it: lower case, imperative, no full stop."""
    fix: Fix | None = None
    on_key: bool = False
    severity: Severity | None = None
    """Set if the finding is more or less certain than the rule's others."""
    field: str | None = ""
    """What the sentence begins with, as in a `Problem`."""
    setter: str = ""
    """What sets the value, as in a `Problem`."""
    source: tuple[Any, Path] | None = None
    """Where another object has the value, as in a `Problem`."""

    @property
    def message(self) -> str:
        """The whole sentence, as people read it."""
        return message_at(self.path, self.text, self.field, self.setter)


Findings = Iterator[Finding]
"""What a check yields."""


def found_at(
    path: Path,
    text: str,
    help: str | None,
    fix: Fix | None = None,
    *,
    on_key: bool = False,
    severity: Severity | None = None,
    field: str | None = None,
) -> Finding:
    """Return a finding whose message begins with its field, as most do."""
    return Finding(path, text, help, fix, on_key, severity, field)


def corrected_at(path: Path, text: str, value: str) -> Finding:
    """Return a finding about a text that another one must replace: its help and its fix."""
    return found_at(path, text, f"write {value}", fix_setting(f"write {value}", path, value))


def fix_setting(title: str, path: Path, value: Any, *, safe: bool = False) -> Fix:
    """Return a fix that only sets the value at a path."""
    return Fix(title, (Edit("set", path, value),), safe)


def fix_removing(title: str, path: Path, *, safe: bool = False) -> Fix:
    """Return a fix that only removes the value at a path."""
    return Fix(title, (Edit("remove", path),), safe)


def edit_adding(written: object, path: Path, item: Any) -> Edit:
    """Return an edit that adds an item to a list, or writes a new list."""
    if isinstance(written, list):
        return Edit("append", path, item)
    return Edit("set", path, [item])


def fix_removing_variable(entry: EnvEntry) -> Fix:
    """Return a fix that removes a container's variable."""
    return fix_removing(f"remove {entry.name}", entry.path)


class Rule(NamedTuple):
    """One check of an object that an API server would accept. The docstring of the check's module
    is its page.

    The page has a title line, then the sections What, Why, Example, Fix and Source. The example is
    a diff with every line of both sides: lines with `-` are bad, lines with `+` good. The bad line
    that the finding is reported at ends in `# <--`. All else about a rule is a row in the table of
    its family (`ptcompile.linter`).
    """

    name: str
    """A key of `codes.CODES`; the module has the same name, with underscores."""
    check: Callable[[Subject], Iterable[Finding]]
    """The function `check` of the module."""
    severity: Severity
    """Error: no cluster could run it as written. Warning: depends on something outside the
    files. Note: a fact.
    """
    stage: Stage
    """When the mistake shows. "apply" is an operator's webhook that reads other objects, which
    may exist already.
    """
    authority: Authority

    @property
    def is_about_pods(self) -> bool:
        """Whether the rule judges a pod by all that it has, and not only by what is written in
        one place.
        """
        return self.check.__module__.rpartition(".")[0].removeprefix("ptcompile.") in _POD_FAMILIES

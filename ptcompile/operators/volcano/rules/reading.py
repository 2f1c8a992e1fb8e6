"""Readers of a Volcano Job for the rules: lifecycle policies with the tasks they cover, and
plugin flags.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kinds.model import KindContext
from ptcompile.kubernetes.goflags import Value, parse
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
)
from ptcompile.linter.rule import Subject, edit_adding
from ptcompile.operators.volcano.plugins import DefaultedJob, VolcanoTask, flags_of
from ptcompile.operators.volcano.pods import events_of, read_job

QUEUE_KEYS = ("volcano.sh/queue-name", "scheduling.volcano.sh/queue-name")
"""Keys that name the queue of a bare pod, or that Volcano itself writes."""


def volcano_job(subject: Subject) -> DefaultedJob:
    """Return the Volcano Job after the mutating webhook's defaults."""
    return subject.cached(_read_job)


def _read_job(subject: Subject) -> DefaultedJob:
    return read_job(subject.manifest, KindContext(versions=subject.versions))


class Policy(NamedTuple):
    """A lifecycle policy of the job or of a task."""

    path: Path
    data: Json
    tasks: tuple[tuple[int, VolcanoTask], ...]
    """The tasks with pods that the policy covers, each with its index."""
    restarts: frozenset[str]
    """The restartPolicies of those tasks."""
    partitioned: bool
    """Whether any of those tasks has partitions."""

    @property
    def events(self) -> list[str]:
        """`event` and `events` as one list."""
        return events_of(self.data)

    @property
    def action(self) -> str:
        """The action, or an empty string."""
        return nested_string(self.data, "action")

    @property
    def on_failure(self) -> bool:
        """Whether a failed pod triggers the policy."""
        return bool({"PodFailed", "*"} & set(self.events)) or self.data.get("exitCode") is not None


def tasks_with_pods(subject: Subject) -> tuple[tuple[int, VolcanoTask], ...]:
    """Return the tasks that have pods, each with its index."""
    return tuple(
        (i, task) for i, task in enumerate(volcano_job(subject).tasks) if task.replicas > 0
    )


def lifecycle_policies(subject: Subject) -> tuple[Policy, ...]:
    """Return the policies of the job, then those of its tasks."""
    return subject.cached(_read_policies)


def _read_policies(subject: Subject) -> tuple[Policy, ...]:
    policies = list(_policies_of(subject.spec, ("spec", "policies"), tasks_with_pods(subject)))
    for index, task in enumerate(volcano_job(subject).tasks):
        tasks = ((index, task),) if task.replicas > 0 else ()
        policies += _policies_of(task.source, ("spec", "tasks", index, "policies"), tasks)
    return tuple(policies)


def _policies_of(
    holder: Json, path: Path, tasks: tuple[tuple[int, VolcanoTask], ...]
) -> Iterator[Policy]:
    policy_list = nested_maps(holder, "policies")
    if not policy_list:
        return
    restart_policies = frozenset(restart_policy_of(task) for _, task in tasks)
    partitioned = any(nested_map(task.source, "partitionPolicy") for _, task in tasks)
    for i, policy in enumerate(policy_list):
        yield Policy((*path, i), policy, tasks, restart_policies, partitioned)


def restart_policy_of(task: VolcanoTask) -> str:
    """Return the restartPolicy of a task's pods; Always if unset, the API server's default."""
    return nested_string(task.spec, "restartPolicy") or "Always"


def pod_path(index: int, *keys: str | int) -> Path:
    """Return the path of a field in a task's pod spec."""
    return ("spec", "tasks", index, "template", "spec", *keys)


def never_restart(tasks: tuple[tuple[int, VolcanoTask], ...]) -> tuple[Edit, ...]:
    """Return edits that make the tasks' pods fail instead of restarting in place."""
    return tuple(Edit("set", pod_path(i, "restartPolicy"), "Never") for i, _ in tasks)


def flag_value(subject: Subject, plugin: str, name: str) -> Value | None:
    """Return a flag's value as the plugin parses it, or None for an unused plugin or an unknown
    flag.
    """
    return subject.cached(_read_flags).get(plugin, {}).get(name)


def _read_flags(subject: Subject) -> dict[str, dict[str, Value]]:
    """Return the flags of each plugin of the job, as the plugin parses them."""
    plugins = volcano_job(subject).plugins
    version = subject.versions.volcano
    return {plugin: parse(args, flags_of(plugin, version))[0] for plugin, args in plugins.items()}


def pytorch_tasks(subject: Subject) -> tuple[VolcanoTask, VolcanoTask | None] | None:
    """Return the master and worker tasks of the pytorch plugin, or None if it does nothing."""
    master = volcano_job(subject).task(flag_value(subject, "pytorch", "master") or None)
    if master is None:
        return None
    return (master, volcano_job(subject).task(flag_value(subject, "pytorch", "worker") or None))


def fix_with_argument(title: str, subject: Subject, plugin: str, argument: str) -> Fix | None:
    """Return the fix that adds an argument to a plugin, or None if the plugin would not read the
    argument, because it stops at an earlier word that is not a flag.
    """
    args = volcano_job(subject).plugins.get(plugin, [])
    flags = flags_of(plugin, subject.versions.volcano)
    name, _, _ = argument.lstrip("-").partition("=")
    before, _ = parse(args, flags)
    after, _ = parse([*args, argument], flags)
    if before.get(name) == after.get(name):
        return None

    path = ("spec", "plugins", plugin)
    written = nested_value(subject.spec, "plugins", plugin)
    return Fix(title, (edit_adding(written, path, argument),))

"""The laws of one world: each looks at one text and says what breaks it.

A law returns None if it says nothing about the text, an empty list if it holds, else one line for each
thing that breaks it. Lines are for people; only the ids of the texts are recorded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import ptcompile
from ptcompile.diagnostics import Diagnostic, Path
from ptcompile.diagnostics.codes import EFFECTS
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import every_rule
from ptcompile.operators.trainer import pods as trainer_pods, runtimes
from ptcompile.simulator.meeting import short_names
from ptcompile.simulator.rendezvous import job_rendezvous
from ptcompile.simulator.world import simulate
from tests.laws import moves, rewrites
from tests.laws.texts import Text
from tests.laws.worlds import (
    Json,
    as_text,
    brief,
    can_train,
    code_and_severity,
    containers_of,
    difference,
    linted,
    namespace,
    objects_of,
    resource,
    trainers_of,
)

Broken = list[str] | None
Law = Callable[[Text], Broken]

NO_TRAINING = frozenset({"fails", "waits", "endless", "apart", "differs"})
"""Effects of findings that say that the job does not train as its fields say."""

MEETING_RULES = frozenset(
    {
        "endpoint-misses-pods", "local-endpoint", "own-host-endpoint", "rendezvous-id-differs", "roles-disagree",
        "same-node-rank", "store-not-on-rank-0", "too-few-pods", "too-many-pods", "unresolvable-endpoint",
        "worlds-apart",
    }
)  # fmt: skip
"""Rules that say that pods do not meet."""


def predicted_is_found(text: Text) -> Broken:
    """Where simulate expects no training, lint has an error or a warning that says so."""
    expected = _predictions(text)
    if False not in expected.values():
        return None
    if any(_says_no_training(diagnostic) for diagnostic in linted(text.text)):
        return []
    return [
        f"simulate: {name} does not train; lint: nothing"
        for name, trains in expected.items()
        if trains is False
    ]


def found_is_predicted(text: Text) -> Broken:
    """Where lint has an error that pods do not meet, simulate does not expect the job to train."""
    expected = _predictions(text)
    errors = [
        diagnostic
        for diagnostic in linted(text.text)
        if diagnostic.name in MEETING_RULES and diagnostic.severity == "error"
    ]
    errors = [error for error in errors if error.resource in expected]
    if not errors:
        return None
    return [
        f"simulate: it trains; lint: {brief(error)}"
        for error in errors
        if expected[str(error.resource)] is True
    ]


def _says_no_training(diagnostic: Diagnostic) -> bool:
    if diagnostic.severity not in ("error", "warning"):
        return False
    return diagnostic.stage in ("apply", "pod") or EFFECTS.get(diagnostic.name) in NO_TRAINING


def _predictions(text: Text) -> dict[str, bool | None]:
    objects = objects_of(text)
    return (
        {resource(job.manifest): can_train(job) for job in simulate(objects).jobs}
        if objects is not None
        else {}
    )


_GENERAL_RULES = frozenset(
    rule.name
    for rule in every_rule()
    if rule.check.__module__.startswith("ptcompile.linter.rules.")
)
"""Rules about pods and launches, which hold for each kind; those of operators are about the fields of theirs."""


def train_job_as_job_set(text: Text) -> Broken:
    """A TrainJob whose runtime is known has the pod and launch findings of the JobSet that Trainer makes of it."""
    objects = objects_of(text)
    jobs = [manifest for manifest in objects or () if manifest["kind"] == "TrainJob"]
    if objects is None or len(jobs) != 1 or (made := _job_set_of(jobs[0], objects)) is None:
        return None
    kept = [
        made if other is jobs[0] else other
        for other in objects
        if not other["kind"].endswith("TrainingRuntime")
    ]
    codes = [_general_codes(linted(as_text(each))) for each in (objects, kept)]
    codes = [
        {code for code in each if not any(name in code for name in _ONLY_OF_ONE_KIND)}
        for each in codes
    ]
    return [
        *(f"- {code}: only the TrainJob has it" for code in sorted(codes[0] - codes[1])),
        *(f"+ {code}: only the JobSet has it" for code in sorted(codes[1] - codes[0])),
    ]


_ONLY_OF_ONE_KIND = {
    "worlds-apart": "numNodes says that the pods of a TrainJob train together; nothing says that of a JobSet",
    "launcher-alone": "numNodes and numProcPerNode of a TrainJob say what the launcher should start",
    "missing-shm": "a TrainJob trains; a JobSet may not, if neither image nor command tells",
    "contradicting-launch-option": "in a TrainJob, the variable that the option overrides is Trainer's, not the user's",
}
"""General rules whose findings follow from what Trainer puts in the place of fields, by name; and why."""


def _job_set_of(job: Json, objects: list[Json]) -> Json | None:
    if job["apiVersion"] != runtimes.API_VERSION:
        return None
    version = Versions().trainer
    runtime, is_assumed = runtimes.find_runtime(job, Objects(objects), version)
    build = trainer_pods._build(job, runtime, version)
    if is_assumed or build.failure or not build.jobs:
        return None
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": job["metadata"],
        "spec": {**build.spec, "replicatedJobs": build.jobs},
    }


def _general_codes(findings: tuple[Diagnostic, ...]) -> set[str]:
    return {
        f"{finding.code} ({finding.name})" for finding in findings if finding.name in _GENERAL_RULES
    }


def wrapped_is_equal(wrap: Callable[[list[Json]], Json], text: Text) -> Broken:
    """Objects that another object carries to the API server have the findings and the pods that they have as
    documents.
    """
    objects = objects_of(text)
    # kubectl takes a List apart; a controller asks for the kind List, which no API server has
    if objects is None or any(manifest["kind"].endswith("List") for manifest in objects):
        return None
    carrier = [wrap(objects)]
    before, after = (
        [(job.title, can_train(job)) for job in simulate(each).jobs] for each in (objects, carrier)
    )
    return [
        *difference(linted(as_text(objects)), linted(as_text(carrier))),
        *([f"simulate: {before}, and inside {after}"] if before != after else []),
    ]


def moved_is_equal(move: Callable[[list[Json]], list[Json] | None], text: Text) -> Broken:
    """A value that another object holds has the findings that it has where it is written."""
    objects, changed = objects_of(text), objects_of(text)
    if objects is None or changed is None or (added := move(changed)) is None:
        return None
    return difference(
        linted(as_text(objects)),
        linted(as_text([*changed, *added])),
        added=[resource(one) for one in added],
    )


def rewritten_is_equal(rewrite: Callable[[list[Json]], bool], text: Text) -> Broken:
    """A change that no cluster sees changes no finding."""
    objects, changed = objects_of(text), objects_of(text)
    if objects is None or changed is None or not rewrite(changed):
        return None
    return difference(linted(as_text(objects)), linted(as_text(changed)))


def every_finding_has_a_place(text: Text) -> Broken:
    """A finding has a position, and its path leads to a value, or to a field that its object does not have yet."""
    objects = objects_of(text)
    findings = linted(text.text)
    if objects is None or not findings:
        return None
    return [
        brief(finding)
        for finding in findings
        if finding.span is None
        or finding.document >= len(objects)
        or not _leads(objects[finding.document], finding.path)
    ]


def _leads(node: Any, path: Path) -> bool:
    """Return whether all steps of a path but the last lead to a value."""
    for step in path[:-1]:
        is_item = isinstance(node, list) and isinstance(step, int) and step < len(node)
        if not is_item and not (isinstance(node, dict) and step in node):
            return False
        node = node[step]
    return True


def _code_severity_and_object(diagnostic: Diagnostic) -> tuple[str, ...]:
    return (*code_and_severity(diagnostic), diagnostic.resource or "")


def reversed_is_equal(text: Text) -> Broken:
    """The order of objects changes no finding."""
    objects = objects_of(text)
    if objects is None or len(objects) < 2:
        return None
    before, after = (_without_order(linted(as_text(each))) for each in (objects, objects[::-1]))
    return difference(before, after, _code_severity_and_object)


_ORDER_RULES = frozenset({"repeated-object", "runtime-after-trainjob"})
"""Rules about the order of the documents in one file."""


def _without_order(findings: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    """Return all findings but those of the rules that are about the order."""
    return [finding for finding in findings if finding.name not in _ORDER_RULES]


def listed_is_equal(text: Text) -> Broken:
    """The items of a List have the findings that they have as documents."""
    objects = objects_of(text)
    if objects is None or any(manifest["kind"].endswith("List") for manifest in objects):
        return None
    whole = {"apiVersion": "v1", "kind": "List", "items": objects}
    return difference(linted(as_text(objects)), linted(as_text([whole])))


def apart_is_equal(text: Text) -> Broken:
    """Objects in a file each, with the others beside it, have the findings that they have in one file."""
    objects = objects_of(text)
    if objects is None or len(objects) < 2:
        return None
    found: list[Diagnostic] = []
    for i, manifest in enumerate(objects):
        found += ptcompile.lint(
            as_text([manifest]), beside=[as_text(objects[:i] + objects[i + 1 :])]
        ).diagnostics
    before, after = _without_order(linted(as_text(objects))), _without_order(tuple(found))
    return difference(before, after, _code_severity_and_object)


def every_name_is_equal(text: Text) -> Broken:
    """Every way to write the endpoint's host gives the same findings and the same prediction."""
    objects = objects_of(text)
    if objects is None or (names := _names_of_host(objects)) is None:
        return None
    host, others = names
    before, trains = linted(as_text(objects)), [can_train(job) for job in simulate(objects).jobs]
    lines: list[str] = []
    for name in others:
        renamed = objects_of(text) or []
        if not _rename(renamed, host, name):
            return None
        lines += [f"{name}: {line}" for line in difference(before, linted(as_text(renamed)))]
        after = [can_train(job) for job in simulate(renamed).jobs]
        lines += [f"simulate: {trains}, and with {name} {after}"] if after != trains else []
    return lines


def _names_of_host(objects: list[Json]) -> tuple[str, list[str]] | None:
    """Return the host at which the pods of the first job meet, as written, and other names for it."""
    for job in simulate(objects).jobs:
        rendezvous = job_rendezvous(job)
        guide = job.meetings[0].guide if rendezvous is not None else None
        host = guide.rendezvous.host if guide is not None else ""
        if rendezvous is None or rendezvous.host is None or guide is None or guide.address.is_blind:
            continue
        labels = host.removesuffix(".cluster.local").removesuffix(".svc").split(".")
        place = namespace(job.manifest) or "default"
        inside = labels[:-1] if len(labels) > 1 and labels[-1] == place else labels
        full = ".".join([*inside, place, "svc", "cluster", "local"])
        names = [*dict.fromkeys([*short_names(full, place), f"{full}.", host.upper()])]
        return host, [name for name in names if name != host]
    return None


def _rename(objects: list[Json], host: str, name: str) -> bool:
    """Replace the host in commands, arguments and variables, and return whether it is written there."""
    pattern = re.compile(rf"(?:(?<=[=\s'\"/])|^){re.escape(host)}(?=:\d|:\$|[\s'\"]|$)")
    changed = False
    for manifest in objects:
        for container in (*containers_of(manifest), *trainers_of(manifest)):
            for holder, key in _texts(container):
                new = pattern.sub(name, holder[key])
                changed = changed or new != holder[key]
                holder[key] = new
    return changed


def _texts(container: Json) -> Iterator[tuple[Any, Any]]:
    """Yield each word of the command line and each value of a variable, as a container and a key of it."""
    for field in ("command", "args"):
        words = container.get(field)
        yield from ((words, i) for i, word in enumerate(words or ()) if isinstance(word, str))
    for entry in container.get("env") or ():
        if isinstance(entry, dict) and isinstance(entry.get("value"), str):
            yield entry, "value"


_AMOUNTS = {"cpu": "96", "memory": "800Gi", "nvidia.com/gpu": "4"}
_DEDICATED = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}


def _cluster(**pool: Any) -> Json:
    """Return the profile of a cluster with one pool."""
    spec = {"nodePools": {"only": {"allocatable": _AMOUNTS, **pool}}}
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "one"},
        "spec": spec,
    }


def refused_by_pool_is_found(text: Text) -> Broken:
    """What compile refuses for want of a pool, lint refuses in the manifests that are compiled without the profile."""
    if "kind: TrainingJob" not in text.text:
        return None
    cluster = _cluster(taints=[_DEDICATED])
    refusal = [
        diagnostic
        for diagnostic in ptcompile.compile(text.text, cluster=cluster).diagnostics
        if _is_misfit(diagnostic)
    ]
    manifests = ptcompile.compile(text.text)
    if not refusal or not manifests.manifests:
        return None
    diagnostics = ptcompile.lint(manifests.yaml(), cluster=cluster).diagnostics
    return (
        []
        if any(diagnostic.severity == "error" for diagnostic in diagnostics)
        else [f"only compile: {brief(one)}" for one in refusal]
    )


def _is_misfit(diagnostic: Diagnostic) -> bool:
    return diagnostic.severity == "error" and diagnostic.name == "fits-no-machine"


def compiled_says_nothing_new(text: Text) -> Broken:
    """What lint says of the manifests of a spec with a profile, compile said with the same profile."""
    if "kind: TrainingJob" not in text.text:
        return None
    cluster = _cluster()
    compiled = ptcompile.compile(text.text, cluster=cluster)
    if not compiled.manifests:
        return None
    codes = {diagnostic.code for diagnostic in compiled.diagnostics}
    findings = ptcompile.lint(compiled.yaml(), cluster=cluster).diagnostics
    return [brief(finding) for finding in findings if finding.code not in codes]


def admitted_as_found(text: Text) -> Broken:
    """A job that its queue never admits has an error or a warning of lint, and one that is admitted is managed."""
    if "ClusterQueue" not in text.text or objects_of(text) is None:
        return None
    jobs = {f"{job.kind}/{job.name}": job.outcome for job in ptcompile.admit(text.text).jobs}
    if not jobs:
        return None
    diagnostics = [
        diagnostic
        for diagnostic in linted(text.text)
        if diagnostic.severity in ("error", "warning")
    ]
    has_reason = any(
        diagnostic.authority == "kueue" or diagnostic.stage in ("apply", "pod")
        for diagnostic in diagnostics
    )
    lines = [
        f"admit: {name} is never admitted; lint: nothing"
        for name, outcome in jobs.items()
        if outcome == "never"
    ]
    unmanaged = [
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.name == _UNMANAGED and jobs.get(str(diagnostic.resource)) == "admitted"
    ]
    return [
        *(() if has_reason else lines),
        *(f"+ {brief(one)}; admit: admitted" for one in unmanaged),
    ]


_UNMANAGED = "kueue-framework-off"
"""The rule that says that a queue does not see a job."""


def verbs_say_what_compile_says(text: Text) -> Broken:
    """Each verb that compiles a spec for one target says what the others say of it; `simulate` looks at one job."""
    if (
        objects_of(text) is not None
        or "kind: TrainingJob" not in text.text
        or "\nvariants:" in text.text
    ):
        return None
    stored, simulated = ptcompile.stored(text.text), ptcompile.simulate(text.text, target="default")
    # only `stored` shows defaults
    return difference(
        [d for d in stored.diagnostics if d.name != "unknown-defaults"], simulated.diagnostics
    )


LAWS: dict[str, Law] = {
    "1-predicted-is-found": predicted_is_found,
    "1-found-is-predicted": found_is_predicted,
    "2-train-job-as-job-set": train_job_as_job_set,
    "2-in-app-wrapper": partial(wrapped_is_equal, moves.in_app_wrapper),
    "2-in-manifest-work": partial(wrapped_is_equal, moves.in_manifest_work),
    "3-env-to-env-from": partial(moved_is_equal, moves.env_to_env_from),
    "3-env-to-key-refs": partial(moved_is_equal, moves.env_to_key_refs),
    "3-script-to-file": partial(moved_is_equal, moves.script_to_file),
    "3-fields-to-runtime": partial(moved_is_equal, moves.fields_to_runtime),
    "3-resources-to-limit-range": partial(moved_is_equal, moves.resources_to_limit_range),
    "4-namespace-added": partial(rewritten_is_equal, rewrites.namespace_added),
    "4-namespace-removed": partial(rewritten_is_equal, rewrites.namespace_removed),
    "5-every-name": every_name_is_equal,
    "6-every-finding-has-a-place": every_finding_has_a_place,
    "7-order": reversed_is_equal,
    "7-list": listed_is_equal,
    "7-files": apart_is_equal,
    **{
        f"8-noise-{name}": partial(rewritten_is_equal, partial(rewrites.noise_added, line=line))
        for name, line in rewrites.NOISE.items()
    },
    "10-refused-by-pool": refused_by_pool_is_found,
    "10-compiled-then-linted": compiled_says_nothing_new,
    "10-admitted-as-found": admitted_as_found,
    "11-verbs-on-a-spec": verbs_say_what_compile_says,
}
"""By number in the order of `docs/maintaining/checks.md`, and name."""

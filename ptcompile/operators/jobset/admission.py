"""What the JobSet webhook, its CRD and its child Jobs reject, at creation and on updates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver import roundtrip
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.job import (
    check_job_counts,
    check_job_selector,
    check_job_template_metadata,
    check_restart_policy,
)
from ptcompile.apiserver.validation.templates import check_template
from ptcompile.apiserver.validation.volume_claims import check_claim_spec
from ptcompile.apiserver.webhooks import (
    ProblemFactory,
    allowed_values_help,
    child_rejection,
    decode_problems,
    entries,
    invalid_value,
    quote_names,
    webhook_rejection,
)
from ptcompile.diagnostics import Path, Problem
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import as_int, as_mappings, as_string, as_strings, nested_map, object_name
from ptcompile.registry.model import ApiServer, KindContext, Update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json


def jobset_rules(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """The rules of a JobSet (JobSet 0.12 CRD)."""
    return jobset_spec_rules(nested_map(manifest, "spec"), ("spec",))


def jobset_spec_rules(spec: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    """The rules of a JobSet's spec at `path`."""
    yield from _one_way_to_order(spec, path)
    yield from _claims(spec, path)


def _one_way_to_order(spec: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    if nested_map(spec, "startupPolicy").get("startupPolicyOrder") != "InOrder":
        return
    if spec.get("replicatedJobs") is None:
        why = "no such key: replicatedJobs evaluating rule: StartupPolicy and DependsOn APIs are mutually exclusive"
        yield invalid_value(path, why, "list the replicatedJobs, or drop startupPolicy")
    for index, job in entries(spec, "replicatedJobs"):
        if job.get("dependsOn") is not None:
            yield invalid_value(
                (*path, "replicatedJobs", index, "dependsOn"),
                "StartupPolicy and DependsOn APIs are mutually exclusive",
                "keep dependsOn and drop startupPolicy, or the other way round",
            )
            return


def _claims(spec: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    for index, policy in entries(spec, "volumeClaimPolicies"):
        where = (*path, "volumeClaimPolicies", index)
        # The rule reads `templates` and each `metadata` without asking whether they are there.
        if policy.get("templates") is None:
            yield invalid_value(where, "no such key: templates", "add templates, an empty list at least")
        for inner, template in entries(policy, "templates"):
            if template.get("metadata") is None:
                yield invalid_value((*where, "templates", inner), "no such key: metadata", "add metadata with a name")
            if nested_map(template, "metadata").get("namespace"):
                yield invalid_value(
                    (*where, "templates", inner, "metadata", "namespace"),
                    "namespace cannot be set for VolumeClaimPolicies templates",
                    "remove it: the claims are made in the JobSet's namespace",
                )


def check_children(manifest: Mapping[str, Any], spec: dict[str, Any], context: ApiServer, found: f.Problems) -> None:
    """All that a JobSet creates."""
    check_replicated_jobs(
        spec, ("spec",), f.as_field_mapping(manifest.get("metadata")).get("name"), False, context, found
    )


def check_replicated_jobs(
    spec: Any, path: Path, name: Any, counted: bool, context: ApiServer, found: f.Problems
) -> None:
    """The replicated jobs of a JobSet spec. `counted`: Trainer sets parallelism and completions itself."""
    volumes = _claim_volumes(spec, path, found)
    clean: Any = None
    for index, job in f.indexed_mappings(spec.get("replicatedJobs")):
        here = (*path, "replicatedJobs", index, "template")
        template = f.as_field_mapping(job.get("template"))
        child = template.get("spec")
        if type(child) is not dict:
            continue
        clean = check_template(child.get("template"), (*here, "spec", "template"), context, found, volumes, clean)
        problems: f.Problems = []
        check_job_template_metadata(template.get("metadata"), (*here, "metadata"), problems)
        full = f"{name}-{job.get('name')}-0" if type(name) is str else None
        _check_child(child, (*here, "spec"), full, counted, context, problems)
        found.extend(_outside(problems, (*here, "spec")))


def _claim_volumes(spec: Any, path: Path, found: f.Problems) -> frozenset[str]:
    """The volumes that JobSet adds for its volumeClaimPolicies (named as the claim templates)."""
    out = set()
    for index, policy in f.indexed_mappings(spec.get("volumeClaimPolicies")):
        for number, template in f.indexed_mappings(policy.get("templates")):
            here = (*path, "volumeClaimPolicies", index, "templates", number, "spec")
            check_claim_spec(template.get("spec"), here, found)
            name = f.as_field_mapping(template.get("metadata")).get("name")
            if type(name) is str:
                out.add(name)
    return frozenset(out)


def _check_child(
    spec: dict[str, Any], path: Path, name: str | None, counted: bool, context: ApiServer, found: f.Problems
) -> None:
    """The child Job, with JobSet's defaults: completionMode Indexed, restartPolicy OnFailure (JobSet 0.12 webhook)."""
    child = spec if spec.get("completionMode") else {**spec, "completionMode": "Indexed"}
    if counted and child.get("completions") is None:
        child = {**child, "completions": f.as_field_int(child.get("parallelism")) or 1}
    check_job_counts(child, path, context, found)
    check_job_selector({"name": name}, child, path, found)
    pod = f.as_field_mapping(child.get("template")).get("spec")
    if type(pod) is dict and pod.get("restartPolicy") == "Always":
        check_restart_policy(pod, (*path, "template", "spec"), found)


def _outside(problems: list[Problem], path: Path) -> Iterator[Problem]:
    """The same problems, those under the pod template moved to the child Job: the template alone is no mistake."""
    size = len(path) + 1
    for p in problems:
        inside = p.path[:size] == (*path, "template")
        yield Problem(p.name, path if inside else p.path, p.message, p.help)


_VALUE: Final = "Value is immutable"
FIXED_FIELDS: Final = (
    "failurePolicy",
    "network",
    "startupPolicy",
    "successPolicy",
    "volumeClaimPolicies",
    "replicatedJobs.*.dependsOn",
)
"""Of a JobSet's spec, which a runtime holds too."""

FIXED: Final = tuple((f"spec.{path}", _VALUE) for path in FIXED_FIELDS)
"""What the CRD makes immutable (JobSet 0.12)."""

_STEERING: Final = (
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec", "nodeSelector"),
    ("spec", "tolerations"),
    ("spec", "schedulingGates"),
)
"""What of a pod template may change while the JobSet is suspended, and comes to the child Jobs when it is resumed."""

_TEMPLATE: Final = ("template", "spec", "template")
_ANEW: Final = "delete the JobSet and apply again, or give it another name for each run"


def validate_update(update: Update) -> Iterator[Problem]:
    """What the webhook answers to a change; what differs is `update.touched`."""
    suspended = nested_map(update.old, "spec").get("suspend") is True
    if update.versions.jobset >= (0, 8):
        suspended = suspended or nested_map(update.new, "spec").get("suspend") is True
    for path in update.touched:
        if path[:2] == ("spec", "managedBy"):
            yield _refused(("spec", "managedBy"), "remove the change: the manager of a JobSet is set once")
        if path[:2] == ("spec", "replicatedJobs") and not (suspended and _steers(path[3:])):
            yield _refused(("spec", "replicatedJobs"), _ANEW)
            return


def _steers(path: tuple[str, ...]) -> bool:
    inner = path[len(_TEMPLATE) :]
    return path[: len(_TEMPLATE)] == _TEMPLATE and any(inner[: len(steps)] == steps for steps in _STEERING)


def _refused(path: tuple[str, ...], help: str) -> Problem:
    message = f"{'.'.join(path)}: Invalid value: field is immutable"
    return Problem("webhook-refusal", path, message, help, authority="jobset")


_RULE_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?").fullmatch
_REASONS = (
    "BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy",
)  # fmt: skip
_GATED = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")


def failure_policy(policy: Json, known: Sequence[str], path: Path, say: ProblemFactory) -> Iterator[Problem]:
    """The rules one by one. Gates that are off by default refuse what needs them."""
    if policy.get("restartStrategy") == "InPlaceRestart":
        text_ = "Forbidden: InPlaceRestart needs the feature gate InPlaceRestart, which is off by default"
        yield say((*path, "restartStrategy"), text_, "use Recreate or BlockingRecreate")
    seen: set[str] = set()
    for i, rule in enumerate(as_mappings(policy.get("rules"))):
        here = (*path, "rules", i)
        yield from _name(as_string(rule.get("name")), seen, here, say)
        if rule.get("action") in _GATED:
            text_ = f"Forbidden: {rule['action']} needs the feature gate RestartJob, which is off by default"
            yield say((*here, "action"), text_, "use FailJobSet, RestartJobSet or RestartJobSetAndIgnoreMaxRestarts")
        for j, reason in enumerate(as_strings(rule.get("onJobFailureReasons"))):
            if reason not in _REASONS:
                text_ = f'Unsupported value: "{reason}": supported values: {quote_names(_REASONS)}'
                yield say((*here, "onJobFailureReasons", j), text_, allowed_values_help(reason, _REASONS))
        for j, target in enumerate(as_strings(rule.get("targetReplicatedJobs"))):
            if target not in known:
                text_ = f'Invalid value: "{target}": there is no replicatedJob of this name'
                yield say((*here, "targetReplicatedJobs", j), text_, allowed_values_help(target, known))


def _name(name: str, seen: set[str], path: Path, say: ProblemFactory) -> Iterator[Problem]:
    if not _RULE_NAME(name) or len(name) > 128:
        text_ = f'Invalid value: "{name}": must have 1 to 128 letters, digits or _,: with a letter first'
        yield say((*path, "name"), text_, "end it with a letter, a digit or an underscore")
    elif name in seen:
        yield say((*path, "name"), f'Duplicate value: "{name}"', "rename one of the rules")
    seen.add(name)


def claims(spec: Json, name: str, path: Path, say: ProblemFactory) -> Iterator[Problem]:
    """Each template has a name of its own, is mounted, and no volume of that name is already there."""
    seen: set[str] = set()
    pods = [nested_map(j, "template", "spec", "template", "spec") for j in as_mappings(spec.get("replicatedJobs"))]
    for i, policy in enumerate(as_mappings(spec.get("volumeClaimPolicies"))):
        for j, template in enumerate(as_mappings(policy.get("templates"))):
            here = (*path, i, "templates", j, "metadata", "name")
            claim = as_string(nested_map(template, "metadata").get("name"))
            problem = _claim(claim, name, here, say)
            if problem:
                yield problem
                continue
            if claim in seen:
                yield say(here, f'Duplicate value: "{claim}"', "rename one of the templates")
            seen.add(claim)
            yield from _use(claim, pods, here, say)


def _claim(claim: str, name: str, path: Path, say: ProblemFactory) -> Problem | None:
    if why := names.why_not_dns_subdomain(claim):
        return say(path, f'Invalid value: "{claim}": {why}', "name the claim with letters, digits and dashes")
    full = f"{claim}-{name}"
    if len(full) > names.DNS_LABEL_MAX:
        why = f"the claim {full} would have {len(full)} characters, and 63 are allowed"
        return say(path, f'Invalid value: "{claim}": {why}', "shorten the claim's or the JobSet's name")
    return None


def _use(claim: str, pods: list[Json], path: Path, say: ProblemFactory) -> Iterator[Problem]:
    containers = [c for p in pods for key in ("initContainers", "containers") for c in as_mappings(p.get(key))]
    if not any(m.get("name") == claim for c in containers for m in as_mappings(c.get("volumeMounts"))):
        yield say(path, f'Invalid value: "{claim}": no container mounts it', "mount it, or remove the template")
    if any(v.get("name") == claim for p in pods for v in as_mappings(p.get("volumes"))):
        yield say(path, f'Invalid value: "{claim}": a pod has a volume of this name already', "rename one of them")


_say = webhook_rejection("jobset")
_MAX = 2**31 - 1
SPEC: roundtrip.FieldShapes = {
    "replicatedJobs": [
        {
            roundtrip.ZERO: {"name": "", "template": {}},
            "template": roundtrip.JOB_TEMPLATE,
            "dependsOn": [{roundtrip.ZERO: {"name": "", "status": ""}}],
        }
    ],
    "successPolicy": {roundtrip.ZERO: {"operator": ""}, "targetReplicatedJobs": roundtrip.STRINGS},
    "startupPolicy": {roundtrip.ZERO: {"startupPolicyOrder": ""}},
    "failurePolicy": {
        "rules": [
            {
                roundtrip.ZERO: {"name": "", "action": ""},
                "onJobFailureReasons": roundtrip.STRINGS,
                "targetReplicatedJobs": roundtrip.STRINGS,
            }
        ]
    },
    "coordinator": {roundtrip.ZERO: {"replicatedJob": ""}},
    "volumeClaimPolicies": [{"templates": [{roundtrip.ZERO: {"spec": {}}}]}],
}
LOOSE: roundtrip.FieldShapes = {
    "replicatedJobs": [{"template": {roundtrip.ZERO: {"spec": {}}}}],
    "volumeClaimPolicies": SPEC["volumeClaimPolicies"],
}


def default(manifest: Json, *, complete: bool = False) -> Json:
    """Policies, Indexed completion, restartPolicy OnFailure, DNS host names, rule names (JobSet 0.12)."""
    given = manifest.get("spec")
    if given is not None and not isinstance(given, Mapping):
        return manifest
    spec: dict[str, Any] = {**roundtrip.as_go_reads(dict(given or {}), SPEC, LOOSE, complete=complete)}
    _fill(spec, "successPolicy", "operator", "All")
    _fill(spec, "startupPolicy", "startupPolicyOrder", "AnyOrder")
    _fill(spec, "network", "enableDNSHostnames", True)
    _fill(spec, "network", "publishNotReadyAddresses", True)
    if isinstance(spec.get("replicatedJobs"), list):
        spec["replicatedJobs"] = [_replicated(job) for job in spec["replicatedJobs"]]
    if isinstance(spec.get("failurePolicy"), Mapping) and isinstance(spec["failurePolicy"].get("rules"), list):
        rules = [_rule(rule, i) for i, rule in enumerate(spec["failurePolicy"]["rules"])]
        spec["failurePolicy"] = {**spec["failurePolicy"], "rules": rules}
    return {**manifest, "spec": spec}


def _fill(spec: dict[str, Any], key: str, field: str, value: Any) -> None:
    """A field of a sub-object set where it is unset; a value of a wrong type stays for the schema."""
    old = spec.get(key)
    if old is None or (isinstance(old, Mapping) and old.get(field) in (None, "")):
        spec[key] = {**(old or {}), field: value}


def _rule(rule: Any, index: int) -> Any:
    unnamed = isinstance(rule, Mapping) and not rule.get("name")
    return {**rule, "name": f"failurePolicyRule{index}"} if unnamed else rule


def _replicated(job: Any) -> Any:
    template = job.get("template") if isinstance(job, Mapping) else None
    job_spec = template.get("spec") if isinstance(template, Mapping) else None
    pod_template = job_spec.get("template") if isinstance(job_spec, Mapping) else None
    pod = pod_template.get("spec") if isinstance(pod_template, Mapping) else None
    if template is None or job_spec is None or pod_template is None or not isinstance(pod, Mapping):
        return job
    pod = pod if pod.get("restartPolicy") else {**pod, "restartPolicy": "OnFailure"}
    mode = "Indexed" if job_spec.get("completionMode") is None else job_spec["completionMode"]
    job_spec = {**job_spec, "completionMode": mode, "template": {**pod_template, "spec": pod}}
    filled = {"groupName": "default", "replicas": 1, **{k: v for k, v in job.items() if v is not None}}
    return {**filled, "template": {**template, "spec": job_spec}}


def validate(manifest: Json, request: KindContext) -> Iterator[Problem]:
    """Every condition of the webhook at creation. The alpha gates are taken to be off, as they are by default."""
    if not request.established.decodes:
        yield from decode_problems(nested_map(manifest, "spec"), _say, ("spec",))
    yield from spec_problems(nested_map(manifest, "spec"), object_name(manifest), (), _say)


def spec_problems(spec: Json, name: str, path: Path, say: ProblemFactory) -> Iterator[Problem]:
    """The conditions on a JobSet's spec, which stands under `path` + `spec`; Trainer makes such specs too."""
    here = (*path, "spec")
    jobs = as_mappings(spec.get("replicatedJobs"))
    known = [as_string(j.get("name")) for j in jobs]
    yield from _network(nested_map(spec, "network"), (*here, "network"), say)
    yield from _managed_by(spec.get("managedBy"), (*here, "managedBy"), say)
    for i, job in enumerate(jobs):
        where = (*here, "replicatedJobs", i)
        yield from _counts(job, where, say)
        yield from _group(as_string(job.get("groupName")), (*where, "groupName"), say)
        yield from job_names(job, name, where, say)
        yield from _depends(job, known, i, (*where, "dependsOn"), say)
    targets = nested_map(spec, "successPolicy").get("targetReplicatedJobs")
    yield from _targets(targets, known, (*here, "successPolicy", "targetReplicatedJobs"), say)
    yield from failure_policy(nested_map(spec, "failurePolicy"), known, (*here, "failurePolicy"), say)
    yield from _coordinator(spec, name, jobs, (*here, "coordinator"), say)
    yield from claims(spec, name, (*here, "volumeClaimPolicies"), say)


def controller_errors(manifest: Json, request: KindContext) -> Iterator[Problem]:
    """Names that are good in the names of Jobs and no good as a label's value."""
    del request
    for i, job in enumerate(as_mappings(nested_map(manifest, "spec").get("replicatedJobs"))):
        own = as_string(job.get("name"))
        if own and (why := names.why_not_label_value(own)):
            path = ("spec", "replicatedJobs", i, "name")
            yield child_rejection(path, f'Invalid value: "{own}": it becomes a label of the Jobs: {why}', "rename it")


def _network(network: Json, path: Path, say: ProblemFactory) -> Iterator[Problem]:
    subdomain = as_string(network.get("subdomain"))
    if subdomain and (why := names.why_not_dns_1035_label(subdomain)):
        help = "use up to 63 letters, digits and dashes, starting with a letter: it is the name of a Service"
        yield say((*path, "subdomain"), f'Invalid value: "{subdomain}": {why}', help)


def _managed_by(value: Any, path: Path, say: ProblemFactory) -> Iterator[Problem]:
    if not isinstance(value, str):
        return
    if why := names.why_not_domain_prefixed_path(value):
        yield say(path, f'Invalid value: "{value}": {why}', "write DOMAIN/NAME, or remove managedBy")
    elif len(value) > 63:
        yield say(path, "Too long: may not be more than 63 bytes", "shorten it")


def _counts(job: Json, path: Path, say: ProblemFactory) -> Iterator[Problem]:
    each = as_int(nested_map(job, "template", "spec").get("parallelism"), 1)
    if each * as_int(job.get("replicas"), 1) > _MAX:
        yield say((*path, "replicas"), f"Invalid value: replicas x parallelism must not exceed {_MAX}", "lower them")


def _group(group: str, path: Path, say: ProblemFactory) -> Iterator[Problem]:
    if group and (why := names.why_not_dns_1035_label(group)):
        yield say(path, f'Invalid value: "{group}": {why}', "use letters, digits and dashes, starting with a letter")


def job_names(job: Json, name: str, path: Path, say: ProblemFactory) -> Iterator[Problem]:
    """The names of the last Job and of its last pod."""
    own, job_spec = as_string(job.get("name")), nested_map(job, "template", "spec")
    last = f"{name}-{own}-{as_int(job.get('replicas'), 1) - 1}"
    where = (*path, "name")
    if why := names.why_not_dns_1035_label(last):
        help = "shorten the JobSet's name or this one" if len(last) > 63 else _spelling(own)
        yield say(where, f'Invalid value: "{last}": the name of the Job {why}', help)
        return
    completions = job_spec.get("completions")
    if (as_string(job_spec.get("completionMode")) or "Indexed") != "Indexed" or completions is None:
        return
    pod = f"{last}-{as_int(completions) - 1}-xxxxx"
    if len(pod) > names.DNS_LABEL_MAX:
        text_ = f'Invalid value: "{last}": the name of the pod {pod} has {len(pod)} characters, and 63 are allowed'
        yield say(where, text_, "shorten the JobSet's name or this one")


def _spelling(own: str) -> str:
    return "give it a name" if not own else "use lower case letters, digits and dashes in both names, a letter first"


def _depends(job: Json, known: Sequence[str], index: int, path: Path, say: ProblemFactory) -> Iterator[Problem]:
    depends = as_mappings(job.get("dependsOn"))
    if index == 0 and depends:
        help = "move the job after those that it waits for"
        yield say(path, "Invalid value: DependsOn can't be set for the first ReplicatedJob", help)
        return
    for i, one in enumerate(depends):
        other = as_string(one.get("name"))
        if other not in known[:index]:
            help = (
                "move it before this one"
                if other in known
                else f"use another name: there is no replicatedJob {other!r}"
            )
            text_ = f"Invalid value: replicatedJob: {known[index]} cannot depend on replicatedJob: {other}"
            yield say((*path, i, "name"), text_, help)


def _targets(value: Any, known: Sequence[str], path: Path, say: ProblemFactory) -> Iterator[Problem]:
    for i, target in enumerate(as_strings(value)):
        if target not in known:
            meant = closest_match(target, known)
            help = f'did you mean "{meant}"?' if meant else "name a replicatedJob of this JobSet"
            yield say((*path, i), f'Invalid value: "{target}": there is no replicatedJob of this name', help)


def _coordinator(spec: Json, name: str, jobs: Sequence[Json], path: Path, say: ProblemFactory) -> Iterator[Problem]:
    if not isinstance(spec.get("coordinator"), Mapping):
        return
    coordinator = nested_map(spec, "coordinator")
    wanted, number, index = (
        as_string(coordinator.get("replicatedJob")),
        as_int(coordinator.get("jobIndex")),
        as_int(coordinator.get("podIndex")),
    )
    job = next((j for j in jobs if as_string(j.get("name")) == wanted), None)
    if job is None:
        yield say((*path, "replicatedJob"), f"Invalid value: coordinator replicatedJob {wanted} does not exist",
                  "name a replicatedJob of this JobSet")  # fmt: skip
        return
    job_spec = nested_map(job, "template", "spec")
    if not 0 <= number < as_int(job.get("replicas"), 1):
        yield say(
            (*path, "jobIndex"), f"Invalid value: {number}: {wanted} has no such Job", "use an index below replicas"
        )
        return
    if (as_string(job_spec.get("completionMode")) or "Indexed") != "Indexed" or job_spec.get("completions") is None:
        text_ = "job for coordinator pod must be indexed completion mode, and completions number must be set"
        yield say((*path, "replicatedJob"), f"Invalid value: {text_}", "set completions on its Job")
        return
    if not 0 <= index < as_int(job_spec.get("completions")):
        yield say((*path, "podIndex"), f"Invalid value: {index}: its Job has no such pod", "use one below completions")
        return
    address = f"{name}-{wanted}-{number}-{index}.{as_string(nested_map(spec, 'network').get('subdomain')) or name}"
    if why := names.why_not_label_value(address):
        yield say(path, f'Invalid value: the coordinator\'s address "{address}" is a label: {why}', "shorten the names")

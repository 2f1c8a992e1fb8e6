"""JobSet: the mutating and the validating webhook of JobSet 0.12."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes import names
from ptcompile.kubernetes.untyped import at, integer, items, object_name, text, texts
from ptcompile.operators.common import roundtrip
from ptcompile.operators.common.decode import undecodable
from ptcompile.operators.common.verdict import Say, child, refusal
from ptcompile.operators.jobset.webhook_failure_policy import failure_policy
from ptcompile.operators.jobset.webhook_volumes import claims
from ptcompile.operators.record import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json

_say = refusal("jobset")
_MAX = 2**31 - 1
SPEC: roundtrip.Shape = {
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
LOOSE: roundtrip.Shape = {
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


def check(manifest: Json, request: Request) -> Iterator[Problem]:
    """Every condition of the webhook at creation. The alpha gates are taken to be off, as they are by default."""
    if not request.established.decodes:
        yield from undecodable(at(manifest, "spec"), _say, ("spec",))
    yield from spec_problems(at(manifest, "spec"), object_name(manifest), (), _say)


def spec_problems(spec: Json, name: str, path: Path, say: Say) -> Iterator[Problem]:
    """The conditions on a JobSet's spec, which stands under `path` + `spec`; Trainer makes such specs too."""
    here = (*path, "spec")
    jobs = items(spec.get("replicatedJobs"))
    known = [text(j.get("name")) for j in jobs]
    yield from _network(at(spec, "network"), (*here, "network"), say)
    yield from _managed_by(spec.get("managedBy"), (*here, "managedBy"), say)
    for i, job in enumerate(jobs):
        where = (*here, "replicatedJobs", i)
        yield from _counts(job, where, say)
        yield from _group(text(job.get("groupName")), (*where, "groupName"), say)
        yield from job_names(job, name, where, say)
        yield from _depends(job, known, i, (*where, "dependsOn"), say)
    targets = at(spec, "successPolicy").get("targetReplicatedJobs")
    yield from _targets(targets, known, (*here, "successPolicy", "targetReplicatedJobs"), say)
    yield from failure_policy(at(spec, "failurePolicy"), known, (*here, "failurePolicy"), say)
    yield from _coordinator(spec, name, jobs, (*here, "coordinator"), say)
    yield from claims(spec, name, (*here, "volumeClaimPolicies"), say)


def later(manifest: Json, request: Request) -> Iterator[Problem]:
    """Names that are good in the names of Jobs and no good as a label's value."""
    del request
    for i, job in enumerate(items(at(manifest, "spec").get("replicatedJobs"))):
        own = text(job.get("name"))
        if own and (why := names.why_not_label_value(own)):
            path = ("spec", "replicatedJobs", i, "name")
            yield child(path, f'Invalid value: "{own}": it becomes a label of the Jobs: {why}', "rename it")


def _network(network: Json, path: Path, say: Say) -> Iterator[Problem]:
    subdomain = text(network.get("subdomain"))
    if subdomain and (why := names.why_not_dns_1035_label(subdomain)):
        help = "use up to 63 letters, digits and dashes, starting with a letter: it is the name of a Service"
        yield say((*path, "subdomain"), f'Invalid value: "{subdomain}": {why}', help)


def _managed_by(value: Any, path: Path, say: Say) -> Iterator[Problem]:
    if not isinstance(value, str):
        return
    if why := names.why_not_domain_prefixed_path(value):
        yield say(path, f'Invalid value: "{value}": {why}', "write DOMAIN/NAME, or remove managedBy")
    elif len(value) > 63:
        yield say(path, "Too long: may not be more than 63 bytes", "shorten it")


def _counts(job: Json, path: Path, say: Say) -> Iterator[Problem]:
    each = integer(at(job, "template", "spec").get("parallelism"), 1)
    if each * integer(job.get("replicas"), 1) > _MAX:
        yield say((*path, "replicas"), f"Invalid value: replicas x parallelism must not exceed {_MAX}", "lower them")


def _group(group: str, path: Path, say: Say) -> Iterator[Problem]:
    if group and (why := names.why_not_dns_1035_label(group)):
        yield say(path, f'Invalid value: "{group}": {why}', "use letters, digits and dashes, starting with a letter")


def job_names(job: Json, name: str, path: Path, say: Say) -> Iterator[Problem]:
    """The names of the last Job and of its last pod."""
    own, job_spec = text(job.get("name")), at(job, "template", "spec")
    last = f"{name}-{own}-{integer(job.get('replicas'), 1) - 1}"
    where = (*path, "name")
    if why := names.why_not_dns_1035_label(last):
        help = "shorten the JobSet's name or this one" if len(last) > 63 else _spelling(own)
        yield say(where, f'Invalid value: "{last}": the name of the Job {why}', help)
        return
    completions = job_spec.get("completions")
    if (text(job_spec.get("completionMode")) or "Indexed") != "Indexed" or completions is None:
        return
    pod = f"{last}-{integer(completions) - 1}-xxxxx"
    if len(pod) > names.DNS_LABEL_MAX:
        text_ = f'Invalid value: "{last}": the name of the pod {pod} has {len(pod)} characters, and 63 are allowed'
        yield say(where, text_, "shorten the JobSet's name or this one")


def _spelling(own: str) -> str:
    return "give it a name" if not own else "use lower case letters, digits and dashes in both names, a letter first"


def _depends(job: Json, known: Sequence[str], index: int, path: Path, say: Say) -> Iterator[Problem]:
    depends = items(job.get("dependsOn"))
    if index == 0 and depends:
        help = "move the job after those that it waits for"
        yield say(path, "Invalid value: DependsOn can't be set for the first ReplicatedJob", help)
        return
    for i, one in enumerate(depends):
        other = text(one.get("name"))
        if other not in known[:index]:
            help = (
                "move it before this one"
                if other in known
                else f"use another name: there is no replicatedJob {other!r}"
            )
            text_ = f"Invalid value: replicatedJob: {known[index]} cannot depend on replicatedJob: {other}"
            yield say((*path, i, "name"), text_, help)


def _targets(value: Any, known: Sequence[str], path: Path, say: Say) -> Iterator[Problem]:
    for i, target in enumerate(texts(value)):
        if target not in known:
            meant = names.suggest(target, known)
            help = f'did you mean "{meant}"?' if meant else "name a replicatedJob of this JobSet"
            yield say((*path, i), f'Invalid value: "{target}": there is no replicatedJob of this name', help)


def _coordinator(spec: Json, name: str, jobs: Sequence[Json], path: Path, say: Say) -> Iterator[Problem]:
    if not isinstance(spec.get("coordinator"), Mapping):
        return
    coordinator = at(spec, "coordinator")
    wanted, number, index = (
        text(coordinator.get("replicatedJob")),
        integer(coordinator.get("jobIndex")),
        integer(coordinator.get("podIndex")),
    )
    job = next((j for j in jobs if text(j.get("name")) == wanted), None)
    if job is None:
        yield say((*path, "replicatedJob"), f"Invalid value: coordinator replicatedJob {wanted} does not exist",
                  "name a replicatedJob of this JobSet")  # fmt: skip
        return
    job_spec = at(job, "template", "spec")
    if not 0 <= number < integer(job.get("replicas"), 1):
        yield say(
            (*path, "jobIndex"), f"Invalid value: {number}: {wanted} has no such Job", "use an index below replicas"
        )
        return
    if (text(job_spec.get("completionMode")) or "Indexed") != "Indexed" or job_spec.get("completions") is None:
        text_ = "job for coordinator pod must be indexed completion mode, and completions number must be set"
        yield say((*path, "replicatedJob"), f"Invalid value: {text_}", "set completions on its Job")
        return
    if not 0 <= index < integer(job_spec.get("completions")):
        yield say((*path, "podIndex"), f"Invalid value: {index}: its Job has no such pod", "use one below completions")
        return
    address = f"{name}-{wanted}-{number}-{index}.{text(at(spec, 'network').get('subdomain')) or name}"
    if why := names.why_not_label_value(address):
        yield say(path, f'Invalid value: the coordinator\'s address "{address}" is a label: {why}', "shorten the names")

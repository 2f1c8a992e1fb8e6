"""The JobSet webhook's, CRD's and child Jobs' validation, at creation and on updates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver import roundtrip
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.job import (
    check_job_counts,
    check_job_selector,
    check_restart_policy,
)
from ptcompile.apiserver.validation.metadata import check_labels
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
from ptcompile.diagnostics import Path, Problem, Problems
from ptcompile.diagnostics.field_errors import FieldErrors, as_field_int, indexed_mappings
from ptcompile.kinds.model import KindContext, Rejections
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_int,
    as_strings,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_strings,
    nested_value,
    object_name,
    without_none,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.jobset import gates
from ptcompile.operators.jobset.pods import coordinator_address


def jobset_spec_rules(spec: Json, path: Path) -> Problems:
    """Yield the violations of the CRD's CEL rules for a JobSet spec at `path` (JobSet 0.12 CRD)."""
    yield from _check_startup_order(spec, path)
    yield from _check_claim_policies(spec, path)


def _check_startup_order(spec: Json, path: Path) -> Problems:
    if nested_value(spec, "startupPolicy", "startupPolicyOrder") != "InOrder":
        return

    if spec.get("replicatedJobs") is None:
        yield invalid_value(
            path,
            "no such key: replicatedJobs evaluating rule: StartupPolicy and DependsOn APIs are "
            "mutually exclusive",
            "list the replicatedJobs, or drop startupPolicy",
        )
    for index, job in entries(spec, "replicatedJobs"):
        if job.get("dependsOn") is not None:
            yield invalid_value(
                (*path, "replicatedJobs", index, "dependsOn"),
                "StartupPolicy and DependsOn APIs are mutually exclusive",
                "keep dependsOn and drop startupPolicy, or the other way round",
            )
            return


def _check_claim_policies(spec: Json, path: Path) -> Problems:
    for index, policy in entries(spec, "volumeClaimPolicies"):
        policy_path = (*path, "volumeClaimPolicies", index)
        # the rule reads `templates` and each `metadata` without a has() check
        if policy.get("templates") is None:
            yield invalid_value(
                policy_path, "no such key: templates", "add templates, an empty list at least"
            )

        for template_index, template in entries(policy, "templates"):
            if template.get("metadata") is None:
                yield invalid_value(
                    (*policy_path, "templates", template_index),
                    "no such key: metadata",
                    "add metadata with a name",
                )
            if nested_value(template, "metadata", "namespace"):
                yield invalid_value(
                    (*policy_path, "templates", template_index, "metadata", "namespace"),
                    "namespace cannot be set for VolumeClaimPolicies templates",
                    "remove it: the claims are made in the JobSet's namespace",
                )


def check_children(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check the child Jobs of a JobSet."""
    check_replicated_jobs(
        nested_map(manifest, "spec"),
        ("spec",),
        nested_value(manifest, "metadata", "name"),
        False,
        context,
        problems,
    )


def check_replicated_jobs(
    spec: Any,
    path: Path,
    name: Any,
    counted: bool,
    context: ApiServer,
    problems: FieldErrors,
    added_volumes: frozenset[str] = frozenset(),
) -> None:
    """Check the replicatedJobs of a JobSet spec.

    `counted`: Trainer sets parallelism and completions itself. `added_volumes` are the volumes that
    Trainer adds to the pods.
    """
    volumes = _claim_volumes(spec, path, problems) | added_volumes
    clean = None
    for index, job in indexed_mappings(spec.get("replicatedJobs")):
        template_path = (*path, "replicatedJobs", index, "template")
        template = nested_map(job, "template")
        child = template.get("spec")
        if type(child) is not dict:
            continue

        clean = check_template(
            child.get("template"),
            (*template_path, "spec", "template"),
            context,
            problems,
            volumes,
            clean,
        )
        job_problems = FieldErrors()
        check_labels(
            nested_value(template, "metadata", "labels"),
            (*template_path, "metadata", "labels"),
            job_problems,
        )
        job_name = f"{name}-{job.get('name')}-0" if type(name) is str else None
        _check_child(child, (*template_path, "spec"), job_name, counted, context, job_problems)
        problems.extend(_report_on_job(job_problems, (*template_path, "spec")))


def _claim_volumes(spec: Any, path: Path, problems: FieldErrors) -> frozenset[str]:
    """Check the volumeClaimPolicies; return the volumes that JobSet adds for them, named after
    the claim templates.
    """
    volumes = set()
    for index, policy in indexed_mappings(spec.get("volumeClaimPolicies")):
        for number, template in indexed_mappings(policy.get("templates")):
            check_claim_spec(
                template.get("spec"),
                (*path, "volumeClaimPolicies", index, "templates", number, "spec"),
                problems,
            )
            name = nested_value(template, "metadata", "name")
            if type(name) is str:
                volumes.add(name)
    return frozenset(volumes)


def _check_child(
    spec: Json,
    path: Path,
    name: str | None,
    counted: bool,
    context: ApiServer,
    problems: FieldErrors,
) -> None:
    """Check a child Job with JobSet's defaults: completionMode Indexed, restartPolicy OnFailure
    (JobSet 0.12 webhook).
    """
    child = spec if spec.get("completionMode") else {**spec, "completionMode": "Indexed"}
    if counted and child.get("completions") is None:
        child = {**child, "completions": as_field_int(child.get("parallelism")) or 1}
    job = FieldValue(child, path, CheckScope(context, problems))
    check_job_counts(job)
    check_job_selector(job, {"name": name})
    pod = job["template"]["spec"]
    if pod.get("restartPolicy") == "Always":
        check_restart_policy(pod)


def _report_on_job(problems: list[Problem], path: Path) -> Problems:
    """Yield the problems, with those in the pod template moved to the child Job: the template
    alone is valid.
    """
    size = len(path) + 1
    for problem in problems:
        in_template = problem.path[:size] == (*path, "template")
        job_path = path if in_template else problem.path
        yield Problem(problem.name, job_path, problem.text, problem.help, field=problem.start)


_IMMUTABLE_BY_CRD = "Value is immutable"
FIXED_FIELDS = (
    "failurePolicy",
    "network",
    "startupPolicy",
    "successPolicy",
    "volumeClaimPolicies",
    "replicatedJobs.*.dependsOn",
)
"""Immutable fields of a JobSet spec, which a runtime contains too."""

_POD_TEMPLATE = ("template", "spec", "template")
_MUTABLE_WHILE_SUSPENDED = {
    (*_POD_TEMPLATE, "metadata", "labels"),
    (*_POD_TEMPLATE, "metadata", "annotations"),
    (*_POD_TEMPLATE, "spec", "nodeSelector"),
    (*_POD_TEMPLATE, "spec", "tolerations"),
    (*_POD_TEMPLATE, "spec", "schedulingGates"),
}
"""Fields of a replicatedJob that may change while the JobSet is suspended; the child Jobs get them
on resume.
"""

_IMMUTABLE_BY_WEBHOOK = "Invalid value: field is immutable"
_RECREATE_HELP = "delete the JobSet and apply again, or give it another name for each run"


def validate_update(update: Update) -> Problems:
    """Yield what the webhook rejects of a change; `update.touched` lists the paths that differ."""
    yield from gates.resize_problems(update)
    suspended = nested_value(update.old, "spec", "suspend") is True
    if update.versions.jobset >= (0, 8):
        suspended = suspended or nested_value(update.new, "spec", "suspend") is True

    for path in update.touched:
        if path[:2] == ("spec", "managedBy"):
            yield _rejection(
                ("spec", "managedBy"),
                _IMMUTABLE_BY_WEBHOOK,
                "remove the change: the manager of a JobSet is set once",
            )
        if path[:2] != ("spec", "replicatedJobs") or gates.is_resize(path, update):
            continue
        if not (suspended and path[3:8] in _MUTABLE_WHILE_SUSPENDED):
            yield _rejection(("spec", "replicatedJobs"), _IMMUTABLE_BY_WEBHOOK, _RECREATE_HELP)
            return


_match_rule_name = re.compile(r"[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?").fullmatch
_REASONS = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)


def check_failure_policy(
    policy: Json, job_names: Sequence[str], path: Path, rejection: ProblemFactory
) -> Problems:
    """Check each rule, except its action."""
    seen: set[str] = set()
    for i, rule in enumerate(nested_maps(policy, "rules")):
        rule_path = (*path, "rules", i)
        yield from _check_rule_name(nested_string(rule, "name"), seen, rule_path, rejection)
        for j, reason in enumerate(nested_strings(rule, "onJobFailureReasons")):
            if reason not in _REASONS:
                message = (
                    f'Unsupported value: "{reason}": supported values: {quote_names(_REASONS)}'
                )
                yield rejection(
                    (*rule_path, "onJobFailureReasons", j),
                    message,
                    allowed_values_help(reason, _REASONS),
                )

        for j, target in enumerate(nested_strings(rule, "targetReplicatedJobs")):
            if target not in job_names:
                message = f'Invalid value: "{target}": there is no replicatedJob of this name'
                yield rejection(
                    (*rule_path, "targetReplicatedJobs", j),
                    message,
                    allowed_values_help(target, job_names),
                )


def _check_rule_name(name: str, seen: set[str], path: Path, rejection: ProblemFactory) -> Problems:
    if not _match_rule_name(name) or len(name) > 128:
        yield rejection(
            (*path, "name"),
            f'Invalid value: "{name}": must have 1 to 128 letters, digits or _,: with a letter '
            "first",
            "end it with a letter, a digit or an underscore",
        )
    elif name in seen:
        yield rejection((*path, "name"), f'Duplicate value: "{name}"', "rename one of the rules")
    seen.add(name)


def check_claim_templates(spec: Json, name: str, path: Path, rejection: ProblemFactory) -> Problems:
    """Check that each claim template has a unique name, is mounted and does not clash with a
    volume.
    """
    seen: set[str] = set()
    pods = [
        nested_map(job, "template", "spec", "template", "spec")
        for job in nested_maps(spec, "replicatedJobs")
    ]
    for i, policy in enumerate(nested_maps(spec, "volumeClaimPolicies")):
        for j, template in enumerate(nested_maps(policy, "templates")):
            name_path = (*path, i, "templates", j, "metadata", "name")
            claim = nested_string(template, "metadata", "name")
            problem = _check_claim_name(claim, name, name_path, rejection)
            if problem:
                yield problem
                continue

            if claim in seen:
                yield rejection(
                    name_path, f'Duplicate value: "{claim}"', "rename one of the templates"
                )

            seen.add(claim)
            yield from _check_claim_use(claim, pods, name_path, rejection)


def _check_claim_name(
    claim: str, name: str, path: Path, rejection: ProblemFactory
) -> Problem | None:
    if why := names.why_not_dns_subdomain(claim):
        return rejection(
            path,
            f'Invalid value: "{claim}": {why}',
            "name the claim with letters, digits and dashes",
        )

    full_name = f"{claim}-{name}"
    if len(full_name) > names.DNS_LABEL_MAX:
        why = f"the claim {full_name} would have {len(full_name)} characters, and 63 are allowed"
        return rejection(
            path, f'Invalid value: "{claim}": {why}', "shorten the claim's or the JobSet's name"
        )

    return None


def _check_claim_use(
    claim: str, pods: list[Json], path: Path, rejection: ProblemFactory
) -> Problems:
    mounted: set[str] = set()
    for pod in pods:
        for key in ("initContainers", "containers"):
            for container in nested_maps(pod, key):
                mounts = nested_maps(container, "volumeMounts")
                mounted.update(nested_string(mount, "name") for mount in mounts)

    if claim not in mounted:
        yield rejection(
            path,
            f'Invalid value: "{claim}": no container mounts it',
            "mount it, or remove the template",
        )

    volumes = [volume for pod in pods for volume in nested_maps(pod, "volumes")]
    if any(volume.get("name") == claim for volume in volumes):
        yield rejection(
            path,
            f'Invalid value: "{claim}": a pod has a volume of this name already',
            "rename one of them",
        )


_rejection = webhook_rejection("jobset")
_SEVERAL_DEPENDENCIES = (0, 9)
# since this release the webhook checks the value of the coordinator's label (jobset#1079)
_COORDINATOR_LABEL = (0, 11)
_MAX_INT32 = 2**31 - 1
SPEC = roundtrip.read_shapes("operators/jobset/go_shapes.json", roundtrip.SHAPES)["<spec>"]
LOOSE: roundtrip.FieldShapes = {
    "replicatedJobs": [{"template": {roundtrip.ZERO: {"spec": {}}}}],
    "volumeClaimPolicies": SPEC["volumeClaimPolicies"],
}


def default(manifest: Json, *, complete: bool) -> Json:
    """Fill in policies, Indexed completion, restartPolicy OnFailure, DNS host names and rule
    names (JobSet 0.12).
    """
    user_spec = manifest.get("spec")
    if user_spec is not None and not isinstance(user_spec, Mapping):
        return manifest

    spec: JsonDict = {
        **roundtrip.as_go_reads(dict(user_spec or {}), SPEC, LOOSE, complete=complete)
    }
    _fill_field(spec, "successPolicy", "operator", "All")
    _fill_field(spec, "startupPolicy", "startupPolicyOrder", "AnyOrder")
    _fill_field(spec, "network", "enableDNSHostnames", True)
    _fill_field(spec, "network", "publishNotReadyAddresses", True)
    if isinstance(spec.get("replicatedJobs"), list):
        spec["replicatedJobs"] = [_default_replicated_job(job) for job in spec["replicatedJobs"]]
    rules = nested_value(spec, "failurePolicy", "rules")
    if isinstance(rules, list):
        named_rules = [_with_rule_name(rule, i) for i, rule in enumerate(rules)]
        spec["failurePolicy"] = {**spec["failurePolicy"], "rules": named_rules}

    return {**manifest, "spec": spec}


def _fill_field(spec: JsonDict, key: str, field: str, value: Any) -> None:
    """Set a field of a sub-object if it is unset. A value of a wrong type stays, for the schema
    to reject.
    """
    old = spec.get(key)
    if old is None or (isinstance(old, Mapping) and old.get(field) in (None, "")):
        spec[key] = {**(old or {}), field: value}


def _with_rule_name(rule: Any, index: int) -> Any:
    if isinstance(rule, Mapping) and not rule.get("name"):
        return {**rule, "name": f"failurePolicyRule{index}"}
    return rule


def _default_replicated_job(job: Any) -> Any:
    pod = nested_value(job, "template", "spec", "template", "spec")
    if not isinstance(pod, Mapping):
        return job

    template = job["template"]
    job_spec = template["spec"]
    pod_template = job_spec["template"]
    if not pod.get("restartPolicy"):
        pod = {**pod, "restartPolicy": "OnFailure"}
    mode = "Indexed" if job_spec.get("completionMode") is None else job_spec["completionMode"]
    job_spec = {
        **job_spec,
        "completionMode": mode,
        "template": {**pod_template, "spec": pod},
    }
    filled = {"groupName": "default", "replicas": 1, **without_none(job)}

    return {**filled, "template": {**template, "spec": job_spec}}


def validate(manifest: Json, request: KindContext) -> Problems:
    """Yield what the webhook rejects at creation."""
    if not request.established.decodes:
        yield from decode_problems(nested_map(manifest, "spec"), _rejection, ("spec",))
    yield from check_jobset_spec(
        nested_map(manifest, "spec"), object_name(manifest), (), _rejection, request.versions
    )


def check_jobset_spec(
    spec: Json, name: str, path: Path, rejection: ProblemFactory, versions: Versions
) -> Problems:
    """Check a JobSet spec at `path` + `spec`. Trainer creates such specs too."""
    spec_path = (*path, "spec")
    jobs = nested_maps(spec, "replicatedJobs")
    job_names = [nested_string(job, "name") for job in jobs]
    yield from _check_network(nested_map(spec, "network"), (*spec_path, "network"), rejection)
    yield from _check_managed_by(spec.get("managedBy"), (*spec_path, "managedBy"), rejection)
    for i, job in enumerate(jobs):
        job_path = (*spec_path, "replicatedJobs", i)
        yield from _check_pod_count(job, job_path, rejection)
        yield from _check_group_name(
            nested_string(job, "groupName"), (*job_path, "groupName"), rejection
        )
        yield from check_job_names(job, name, job_path, rejection)
        yield from _check_depends_on(job, job_names, i, (*job_path, "dependsOn"), rejection)
        if versions.jobset < _SEVERAL_DEPENDENCIES and len(nested_maps(job, "dependsOn")) > 1:
            yield rejection(
                (*job_path, "dependsOn"),
                "Too many: must have at most 1 item before JobSet 0.9",
                "name only the last job that it waits for",
            )

    targets = nested_value(spec, "successPolicy", "targetReplicatedJobs")
    yield from _check_targets(
        targets, job_names, (*spec_path, "successPolicy", "targetReplicatedJobs"), rejection
    )
    policy = nested_map(spec, "failurePolicy")
    policy_path = (*spec_path, "failurePolicy")
    yield from gates.check_restart_strategy(policy, jobs, spec_path, rejection, versions)
    for i, rule in enumerate(nested_maps(policy, "rules")):
        yield from gates.check_restart_action(
            rule, jobs, (*policy_path, "rules", i), rejection, versions
        )

    yield from check_failure_policy(policy, job_names, policy_path, rejection)
    yield from _check_coordinator(
        spec, name, jobs, (*spec_path, "coordinator"), rejection, versions
    )
    yield from check_claim_templates(spec, name, (*spec_path, "volumeClaimPolicies"), rejection)


def controller_errors(manifest: Json, request: KindContext) -> Problems:
    """Yield names that are valid in a Job's name but not as a label value."""
    del request
    for i, job in enumerate(nested_maps(manifest, "spec", "replicatedJobs")):
        job_name = nested_string(job, "name")
        if job_name and (why := names.why_not_label_value(job_name)):
            yield child_rejection(
                ("spec", "replicatedJobs", i, "name"),
                f'Invalid value: "{job_name}": it becomes a label of the Jobs: {why}',
                "rename it",
            )


def _check_network(network: Json, path: Path, rejection: ProblemFactory) -> Problems:
    subdomain = nested_string(network, "subdomain")
    if subdomain and (why := names.why_not_dns_1035_label(subdomain)):
        yield rejection(
            (*path, "subdomain"),
            f'Invalid value: "{subdomain}": {why}',
            "use up to 63 letters, digits and dashes, starting with a letter: it is the name of a "
            "Service",
        )


def _check_managed_by(value: Any, path: Path, rejection: ProblemFactory) -> Problems:
    if not isinstance(value, str):
        return
    if why := names.why_not_domain_prefixed_path(value):
        yield rejection(
            path, f'Invalid value: "{value}": {why}', "write DOMAIN/NAME, or remove managedBy"
        )
    elif len(value) > 63:
        yield rejection(path, "Too long: may not be more than 63 bytes", "shorten it")


def _check_pod_count(job: Json, path: Path, rejection: ProblemFactory) -> Problems:
    parallelism = nested_int(job, "template", "spec", "parallelism", default=1)
    if parallelism * nested_int(job, "replicas", default=1) > _MAX_INT32:
        yield rejection(
            (*path, "replicas"),
            f"Invalid value: replicas x parallelism must not exceed {_MAX_INT32}",
            "lower them",
        )


def _check_group_name(group: str, path: Path, rejection: ProblemFactory) -> Problems:
    if group and (why := names.why_not_dns_1035_label(group)):
        yield rejection(
            path,
            f'Invalid value: "{group}": {why}',
            "use letters, digits and dashes, starting with a letter",
        )


def check_job_names(job: Json, name: str, path: Path, rejection: ProblemFactory) -> Problems:
    """Check the names of the last Job and of its last pod."""
    replicated_name = nested_string(job, "name")
    last_job = f"{name}-{replicated_name}-{nested_int(job, 'replicas', default=1) - 1}"
    name_path = (*path, "name")
    if why := names.why_not_dns_1035_label(last_job):
        if len(last_job) > 63:
            help = "shorten the JobSet's name or this one"
        elif not replicated_name:
            help = "give it a name"
        else:
            help = "use lower case letters, digits and dashes in both names, a letter first"
        yield rejection(name_path, f'Invalid value: "{last_job}": the name of the Job {why}', help)
        return

    completions = nested_value(job, "template", "spec", "completions")
    if gates.completion_mode(job) != "Indexed" or completions is None:
        return

    pod = f"{last_job}-{as_int(completions) - 1}-xxxxx"
    if len(pod) > names.DNS_LABEL_MAX:
        yield rejection(
            name_path,
            f'Invalid value: "{last_job}": the name of the pod {pod} has {len(pod)} characters, '
            "and 63 are allowed",
            "shorten the JobSet's name or this one",
        )


def _check_depends_on(
    job: Json, job_names: Sequence[str], index: int, path: Path, rejection: ProblemFactory
) -> Problems:
    depends = nested_maps(job, "dependsOn")
    if index == 0 and depends:
        help = "move the job after those that it waits for"
        yield rejection(
            path, "Invalid value: DependsOn can't be set for the first ReplicatedJob", help
        )
        return

    for i, dependency in enumerate(depends):
        required_job = nested_string(dependency, "name")
        if required_job not in job_names[:index]:
            if required_job in job_names:
                help = "move it before this one"
            else:
                help = f"use another name: there is no replicatedJob {required_job!r}"
            yield rejection(
                (*path, i, "name"),
                f"Invalid value: replicatedJob: {job_names[index]} cannot depend on "
                f"replicatedJob: {required_job}",
                help,
            )


def _check_targets(
    value: Any, job_names: Sequence[str], path: Path, rejection: ProblemFactory
) -> Problems:
    for i, target in enumerate(as_strings(value)):
        if target not in job_names:
            suggestion = closest_match(target, job_names)
            if suggestion:
                help = f'did you mean "{suggestion}"?'
            else:
                help = "name a replicatedJob of this JobSet"

            yield rejection(
                (*path, i),
                f'Invalid value: "{target}": there is no replicatedJob of this name',
                help,
            )


def _check_coordinator(
    spec: Json,
    name: str,
    jobs: Sequence[Json],
    path: Path,
    rejection: ProblemFactory,
    versions: Versions,
) -> Problems:
    if not isinstance(spec.get("coordinator"), Mapping):
        return

    problem = _missing_coordinator(nested_map(spec, "coordinator"), jobs, path, rejection)
    if problem is not None:
        yield problem
        return

    subdomain = nested_string(spec, "network", "subdomain") or name
    address = coordinator_address(name, subdomain, spec)
    if versions.jobset >= _COORDINATOR_LABEL and (why := names.why_not_label_value(address)):
        yield rejection(
            path,
            f'Invalid value: the coordinator\'s address "{address}" is a label: {why}',
            "shorten the names",
        )


def _missing_coordinator(
    coordinator: Json, jobs: Sequence[Json], path: Path, rejection: ProblemFactory
) -> Problem | None:
    """Return why the JobSet does not have the pod that the coordinator names, or None if it
    does.
    """
    job_name = nested_string(coordinator, "replicatedJob")
    job = next((job for job in jobs if nested_string(job, "name") == job_name), None)
    if job is None:
        return rejection(
            (*path, "replicatedJob"),
            f"Invalid value: coordinator replicatedJob {job_name} does not exist",
            "name a replicatedJob of this JobSet",
        )

    job_index = nested_int(coordinator, "jobIndex")
    if not 0 <= job_index < nested_int(job, "replicas", default=1):
        return rejection(
            (*path, "jobIndex"),
            f"Invalid value: {job_index}: {job_name} has no such Job",
            "use an index below replicas",
        )

    completions = nested_value(job, "template", "spec", "completions")
    if gates.completion_mode(job) != "Indexed" or completions is None:
        message = (
            "job for coordinator pod must be indexed completion mode, and completions number must "
            "be set"
        )
        return rejection(
            (*path, "replicatedJob"), f"Invalid value: {message}", "set completions on its Job"
        )

    pod_index = nested_int(coordinator, "podIndex")
    if not 0 <= pod_index < as_int(completions):
        return rejection(
            (*path, "podIndex"),
            f"Invalid value: {pod_index}: its Job has no such pod",
            "use one below completions",
        )

    return None


REJECTIONS = Rejections(
    crd_rules=lambda manifest: jobset_spec_rules(nested_map(manifest, "spec"), ("spec",)),
    validate=validate,
    controller_errors=controller_errors,
    check_children=check_children,
    immutable_fields=tuple((f"spec.{path}", _IMMUTABLE_BY_CRD) for path in FIXED_FIELDS),
    validate_update=validate_update,
)

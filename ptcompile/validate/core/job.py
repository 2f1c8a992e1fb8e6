"""batch/v1 Job, alone and as the child of JobSet and Trainer.

Source: docs/facts/api-server.md#jobs 164 to 195, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path
from ptcompile.findings.value_fixes import Cure
from ptcompile.kubernetes import names
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.job_policies import check_failure_policy, check_success_policy
from ptcompile.validate.core.metadata import check_labels, generated
from ptcompile.validate.core.pod import check_pod_spec, check_template_metadata
from ptcompile.validate.core.pod_admission import check_pod_alone, check_pod_annotations
from ptcompile.validate.core.selectors import check_selector, selects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_PARALLELISM_MAX: Final = 100_000
_HIGH_COMPLETIONS: Final = 100_000
_LOW_LIMIT: Final = 10_000
_MANAGED_BY_MAX: Final = 63
_COUNTS: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_NAME_LABELS: Final = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")


def check_job(manifest: Any, context: ApiServer, found: f.Found) -> None:
    """A Job without its metadata; the name counts, since pods and labels are made of it."""
    spec, meta = f.mapping(manifest.get("spec")), f.mapping(manifest.get("metadata"))
    if manifest.get("spec") is not None and type(manifest["spec"]) is not dict:
        return
    path: Path = ("spec",)
    check_job_counts(spec, path, context, found)
    _check_name(meta, spec, found)
    check_job_selector(meta, spec, path, found)
    template = f.mapping(spec.get("template"))
    pod, here = template.get("spec"), (*path, "template")
    check_template_metadata(template.get("metadata"), (*here, "metadata"), found, here)
    check_pod_annotations(template.get("metadata"), pod, (*here, "metadata"), found)
    check_pod_spec(pod, (*here, "spec"), context, found, template=True)
    check_restart_policy(pod, (*here, "spec"), found)


def check_job_pods(manifest: Any, found: f.Found) -> None:
    """What the template may have and the Job's pods may not: the Job is accepted and makes no pod."""
    pod = f.mapping(f.mapping(f.mapping(manifest.get("spec")).get("template")).get("spec"))
    check_pod_alone(pod, ("spec", "template", "spec"), found)


def check_restart_policy(pod: Any, path: Path, found: f.Found) -> None:
    """Pods of a Job end: they may not restart always, which is also the default."""
    policy = pod.get("restartPolicy") if type(pod) is dict else None
    if policy in (None, "", "Always"):
        help = "set restartPolicy: Never, or OnFailure to restart in place"
        here = (*path, "restartPolicy")
        fix = Cure("set restartPolicy to Never", "set", "Never", safe=False).at(here)
        f.required(found, here, 'valid values: "OnFailure", "Never"', help, fix=fix)


def check_job_counts(spec: dict[str, Any], path: Path, context: ApiServer, found: f.Found) -> None:
    """Numbers, modes and policies of a Job's spec: everything that is not its template or its name."""
    for name in _COUNTS:
        if name in spec:
            f.check_not_negative(found, (*path, name), spec[name])
    f.check_choice(found, (*path, "completionMode"), spec.get("completionMode"), ("Indexed", "NonIndexed"))
    indexed = spec.get("completionMode") == "Indexed"
    parallelism = f.integer(spec.get("parallelism"))
    if indexed:
        _check_indexed(spec, path, parallelism, found)
    _check_index_limits(spec, path, indexed, found)
    _check_replacement(spec, path, found)
    manager = spec.get("managedBy")
    if type(manager) is str and context.at_least(32):
        if len(manager) > _MANAGED_BY_MAX:
            f.too_long(found, (*path, "managedBy"), _MANAGED_BY_MAX)
        elif why := names.why_not_domain_prefixed_path(manager):
            f.invalid(found, (*path, "managedBy"), manager, why)
    check_failure_policy(spec, path, found)
    if context.at_least(31):
        check_success_policy(spec, path, found)


def completions_of(spec: dict[str, Any]) -> int | None:
    """`completions` as defaulted: 1 where neither it nor parallelism is set."""
    given = spec.get("completions")
    if given is None and spec.get("parallelism") is None:
        return 1
    return f.integer(given)


def _check_indexed(spec: dict[str, Any], path: Path, parallelism: int | None, found: f.Found) -> None:
    if spec.get("completions") is None and spec.get("parallelism") is not None:
        why = "when completion mode is Indexed"
        f.required(found, (*path, "completions"), why, "set it to the number of pods, as parallelism")
    if parallelism is not None and parallelism > _PARALLELISM_MAX:
        why = f"must be less than or equal to {_PARALLELISM_MAX} when completion mode is Indexed"
        f.invalid(found, (*path, "parallelism"), parallelism, why)


def _check_index_limits(spec: dict[str, Any], path: Path, indexed: bool, found: f.Found) -> None:
    limit, failed = spec.get("backoffLimitPerIndex"), f.integer(spec.get("maxFailedIndexes"))
    if not indexed:
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if type(spec.get(name)) is int:
                help = "set completionMode: Indexed"
                f.invalid(found, (*path, name), spec[name], "requires indexed completion mode", help)
        return
    if failed is not None and limit is None:
        f.required(found, (*path, "backoffLimitPerIndex"), "when maxFailedIndexes is specified")
    completions = completions_of(spec)
    if completions is None:
        return
    here = (*path, "maxFailedIndexes")
    if failed is not None and failed > completions:
        f.invalid(found, here, failed, "must be less than or equal to completions")
    elif failed is not None and failed > _PARALLELISM_MAX:
        f.invalid(found, here, failed, f"must be less than or equal to {_PARALLELISM_MAX}")
    if limit is not None and completions > _HIGH_COMPLETIONS:
        _check_high(spec, path, failed, found)


def _check_high(spec: dict[str, Any], path: Path, failed: int | None, found: f.Found) -> None:
    suffix = f"when completions are above {_HIGH_COMPLETIONS} and used with backoff limit per index"
    parallelism = f.integer(spec.get("parallelism"))
    if parallelism is not None and parallelism > _LOW_LIMIT:
        why = f"must be less than or equal to {_LOW_LIMIT} {suffix}"
        f.invalid(found, (*path, "parallelism"), parallelism, why)
    if failed is None:
        why = f"must be specified when completions is above {_HIGH_COMPLETIONS}"
        f.required(found, (*path, "maxFailedIndexes"), why)
    elif _LOW_LIMIT < failed <= _PARALLELISM_MAX:  # above that it is rejected anyway
        f.invalid(found, (*path, "maxFailedIndexes"), failed, f"must be less than or equal to {_LOW_LIMIT} {suffix}")


def _check_replacement(spec: dict[str, Any], path: Path, found: f.Found) -> None:
    allowed = ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
    f.check_choice(found, (*path, "podReplacementPolicy"), spec.get("podReplacementPolicy"), allowed)


def _check_name(meta: dict[str, Any], spec: dict[str, Any], found: f.Found) -> None:
    name = meta.get("name")
    key = "name"
    if f.is_empty(name) and type(meta.get("generateName")) is str and meta["generateName"]:
        name, key = generated(meta["generateName"]), "generateName"
    if type(name) is not str or not names.is_dns_subdomain(name):
        return  # the metadata's own mistake
    completions = completions_of(spec)
    if spec.get("completionMode") == "Indexed":
        last = f"{name}-{completions - 1}" if completions else ""
        if last and (why := names.why_not_dns_label(last)):
            what = f"will not able to create pod with invalid DNS label {last}: {why}"
            f.invalid(found, ("metadata", key), name, what, "shorten the name, and keep dots out of it")
            return
    if len(name) > names.LABEL_VALUE_MAX:
        why = f"must be no more than {names.LABEL_VALUE_MAX} bytes, as a label of the pods holds it"
        f.invalid(found, ("metadata", key), name, why, "shorten the name", "spec.template.labels")


def check_job_selector(meta: dict[str, Any], spec: dict[str, Any], path: Path, found: f.Found) -> None:
    """The selector and the labels that the server makes itself unless `manualSelector` is set."""
    selector, here = spec.get("selector"), (*path, "selector")
    template = f.mapping(f.mapping(spec.get("template")).get("metadata"))
    labels, at = f.mapping(template.get("labels")), (*path, "template", "metadata", "labels")
    if spec.get("manualSelector") is True:
        before = len(found)
        check_selector(selector, here, found)
        if selector is None:
            f.required(found, here)
        elif type(selector) is dict and len(found) == before and not selects(selector, labels):
            f.invalid(found, at, labels, "`selector` does not match template `labels`")
        return
    check_selector(selector, here, found)
    if type(selector) is dict and not selects(selector, _made_labels(meta)):
        f.invalid(found, here, selector, "`selector` not auto-generated", "remove the selector: the server makes one")
    for key in _NAME_LABELS:
        value, name = labels.get(key), meta.get("name")
        if type(value) is str and (value != name) and (type(name) is str or name is None):
            why = f"must be the Job's name, {f.show(name)}" if name else "must be the Job's name, not known yet"
            f.invalid(found, (*at, key), value, why, "remove the label", f.key_path((*at, key)))
    for key in _UID_LABELS:
        value = labels.get(key)
        if type(value) is str:
            why = "must be the Job's uid, which the server gives"
            f.invalid(found, (*at, key), value, why, "remove the label", f.key_path((*at, key)))


def _made_labels(meta: dict[str, Any]) -> dict[str, Any]:
    """The labels that the server gives a Job's pods; the uid is unknown."""
    return {**dict.fromkeys(_NAME_LABELS, meta.get("name")), **dict.fromkeys(_UID_LABELS, object())}


def check_job_template_metadata(meta: Any, path: Path, found: f.Found) -> None:
    """Labels of a Job that an operator makes from a template."""
    if type(meta) is dict and meta.get("labels"):
        check_labels(meta["labels"], (*path, "labels"), found)

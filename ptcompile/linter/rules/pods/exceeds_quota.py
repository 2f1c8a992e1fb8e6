"""The pods of a job request more than a ResourceQuota of their namespace allows.

What: the stream has a ResourceQuota without scopes of the job's namespace, and the pods of the job together request
more of a resource than its `hard` allows, or exceed its number of `pods`.

Why: the API server rejects the pods beyond the quota: `exceeded quota`. A job whose pods wait for one another waits
forever.

Example:

      apiVersion: v1
      kind: ResourceQuota
      metadata: {name: team}
    - spec: {hard: {limits.cpu: 16}}
    + spec: {hard: {limits.cpu: 64}}
      ---
      apiVersion: batch/v1
      kind: Job
      metadata: {name: train}
      spec:
        completionMode: Indexed
        completions: 2
        parallelism: 2
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command: [python, train.py]
                resources: {limits: {cpu: 16, memory: 64Gi}}  # <--

Fix: request less, use fewer pods, or raise the quota.

Source: Kubernetes 1.36 pkg/quota/v1/evaluator/core/pods.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile.diagnostics import Path
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import as_mapping, namespace_of, nested_map
from ptcompile.linter.allowances import Allowances, Bound
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.workload import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.simulator.pod import WorkloadPods

_QUOTA: Final = ("v1", "ResourceQuota")


def _check(subject: Subject) -> Iterator[Finding]:
    if subject.job is None:
        return
    namespace = namespace_of(subject.manifest)
    allowances = subject.stream.cached(_allowances_by_namespace)
    if namespace not in allowances:
        allowances[namespace] = Allowances(_bounds(subject.stream.objects.in_namespace(namespace).of_kind(_QUOTA)))
    if not allowances[namespace].resources:
        return
    broken: list[tuple[Bound, Quantity]] = []
    for name, requested in _requested_amounts(subject, subject.job).items():
        if name in allowances[namespace].resources:
            broken += [(bound, requested) for bound in allowances[namespace].broken_by("max", name, requested)]
    for bound, requested in sorted(broken, key=lambda pair: pair[0].order):
        message = f"exceeded quota: requested {bound.resource}={requested}, limited: {bound.resource}={bound.allowed}"
        yield found_at(_resources_path(subject), message, "request less, use fewer pods, or raise the quota")


def _allowances_by_namespace(_: Stream) -> dict[str, Allowances]:
    return {}


def _bounds(quotas: Iterable[Json]) -> Iterator[Bound]:
    for number, quota in enumerate(quotas):
        spec = nested_map(quota, "spec")
        if spec.get("scopes") or spec.get("scopeSelector"):
            continue
        for position, (name, bound) in enumerate(as_mapping(spec.get("hard")).items()):
            allowed = quantity.parse(bound)
            if allowed is not None:
                yield Bound((number, 0, position), "max", name, allowed)


def _requested_amounts(subject: Subject, job: WorkloadPods) -> dict[str, Quantity]:
    """Return the total amounts that the pods request, keyed by the resource names of quotas."""
    requested: dict[str, Quantity] = {}
    for name, total in job.totals().items():
        requested[name] = requested[f"requests.{name}"] = total
    counts = {role.name: role.count for role in job.roles}
    for template in subject.templates:
        for container in template.containers:
            for name, limit in container.limits.items() if not container.is_init else ():
                amount = quantity.parse(limit)
                if amount is not None:
                    before = requested.get(f"limits.{name}", Quantity(0))
                    requested[f"limits.{name}"] = before + amount * counts.get(template.role, template.replicas)
    requested["pods"] = Quantity(sum(counts.values()) * quantity.NANO)
    return requested


def _resources_path(subject: Subject) -> Path:
    containers = [
        container for template in subject.templates for container in template.containers if not container.is_init
    ]
    return (*containers[0].path, "resources") if containers else ("spec",)


RULE = Rule("exceeds-quota", _check, severity="error", stage="pod", authority="kube-apiserver")

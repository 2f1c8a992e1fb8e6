"""The pods of a job request more than a ResourceQuota of their namespace allows.

What: the stream has a ResourceQuota without scopes of the job's namespace, and the pods of the job together ask for
more of a resource than its `hard` allows, or there are more of them than its `pods`.

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

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.untyped import at, mapping, namespace
from ptcompile.linting.rule import Found, Rule, found_at
from ptcompile.linting.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_QUOTA: Final = ("v1", "ResourceQuota")


def _check(subject: Subject) -> Iterator[Found]:
    space = namespace(subject.manifest)
    quotas = subject.stream.objects.within(space).of(_QUOTA)
    if not quotas or subject.job is None:
        return
    totals = subject.job.totals()
    for one in quotas:
        spec = at(one, "spec")
        if spec.get("scopes") or spec.get("scopeSelector"):
            continue
        for name, bound in mapping(spec.get("hard")).items():
            allowed, asked = quantity.parse(bound), _asked(subject, name, totals)
            if allowed is not None and asked is not None and asked > allowed:
                path = _place(subject)
                said = f"exceeded quota: requested {name}={asked}, limited: {name}={allowed}"
                yield found_at(path, f"{said}", "request less, use fewer pods, or raise the quota")


def _asked(subject: Subject, name: str, totals: dict[str, Quantity]) -> Quantity | None:
    """What the pods together ask of what a quota limits; None for what does not concern pods."""
    job = subject.job
    if job is None:
        return None
    if name == "pods":
        return Quantity(sum(role.count for role in job.roles) * quantity.NANO)
    side, _, resource = name.partition(".")
    if side == "limits" and resource:
        counts = {role.name: role.count for role in job.roles}
        return _limits(subject, resource, counts)
    plain = resource if side == "requests" and resource else name
    return totals.get(plain)


def _limits(subject: Subject, resource: str, counts: dict[str, int]) -> Quantity | None:
    total = Quantity(0)
    for template in subject.templates:
        for container in template.containers:
            amount = quantity.parse(container.limits.get(resource))
            if amount is not None and not container.init:
                total = total + amount * counts.get(template.role, template.replicas)
    return total


def _place(subject: Subject) -> Path:
    containers = [one for template in subject.templates for one in template.containers if not one.init]
    return (*containers[0].path, "resources") if containers else ("spec",)


RULE = Rule("exceeds-quota", _check, severity="error", stage="pod", authority="kube-apiserver")

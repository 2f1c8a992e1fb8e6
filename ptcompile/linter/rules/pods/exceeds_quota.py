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
    space = namespace_of(subject.manifest)
    known = subject.stream.once(_by_space)
    if space not in known:
        known[space] = Allowances(_bounds(subject.stream.objects.within(space).of(_QUOTA)))
    if not known[space].resources:
        return
    broken: list[tuple[Bound, Quantity]] = []
    for name, asked in _asked(subject, subject.job).items():
        if name in known[space].resources:
            broken += [(one, asked) for one in known[space].broken("max", name, asked)]
    for one, asked in sorted(broken, key=lambda pair: pair[0].order):
        said = f"exceeded quota: requested {one.resource}={asked}, limited: {one.resource}={one.allowed}"
        yield found_at(_place(subject), said, "request less, use fewer pods, or raise the quota")


def _by_space(_: Stream) -> dict[str, Allowances]:
    return {}


def _bounds(quotas: Iterable[Json]) -> Iterator[Bound]:
    for number, one in enumerate(quotas):
        spec = nested_map(one, "spec")
        if spec.get("scopes") or spec.get("scopeSelector"):
            continue
        for place, (name, bound) in enumerate(as_mapping(spec.get("hard")).items()):
            allowed = quantity.parse(bound)
            if allowed is not None:
                yield Bound((number, 0, place), "max", name, allowed)


def _asked(subject: Subject, job: WorkloadPods) -> dict[str, Quantity]:
    """Return what the pods together ask for, by the names that a quota has for it."""
    asked: dict[str, Quantity] = {}
    for name, total in job.totals().items():
        asked[name] = asked[f"requests.{name}"] = total
    counts = {role.name: role.count for role in job.roles}
    for template in subject.templates:
        for container in template.containers:
            for name, limit in container.limits.items() if not container.init else ():
                amount = quantity.parse(limit)
                if amount is not None:
                    before = asked.get(f"limits.{name}", Quantity(0))
                    asked[f"limits.{name}"] = before + amount * counts.get(template.role, template.replicas)
    asked["pods"] = Quantity(sum(counts.values()) * quantity.NANO)
    return asked


def _place(subject: Subject) -> Path:
    containers = [one for template in subject.templates for one in template.containers if not one.init]
    return (*containers[0].path, "resources") if containers else ("spec",)


RULE = Rule("exceeds-quota", _check, severity="error", stage="pod", authority="kube-apiserver")

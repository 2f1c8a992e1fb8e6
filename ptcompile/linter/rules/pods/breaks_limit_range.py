"""A container requests less or more than a LimitRange of its namespace allows.

What: the stream has a LimitRange of the pods' namespace, and a container's request is below its `min`, its limit is
above its `max`, or a limit that `max` requires is missing and has no default.

Why: the API server rejects each pod: `maximum cpu usage per Container is 8, but limit is 16`. The job is accepted but
gets none.

Example:

      apiVersion: v1
      kind: LimitRange
      metadata: {name: small}
    - spec: {limits: [{type: Container, max: {cpu: 8}}]}
    + spec: {limits: [{type: Container, max: {cpu: 32}}]}
      ---
      apiVersion: batch/v1
      kind: Job
      metadata: {name: train}
      spec:
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command: [python, train.py]
                resources: {limits: {cpu: 16, memory: 64Gi}}  # <--

Fix: request what the LimitRange allows, or use another namespace.

Source: Kubernetes 1.36 plugin/pkg/admission/limitranger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, namespace_of, nested_map
from ptcompile.linter.allowances import Allowances, Bound, parse_amount
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.templates import ManifestContainer
from ptcompile.linter.workload import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.linter.allowances import LimitSide

_LIMIT_RANGE: Final = ("v1", "LimitRange")
_SIDES: Final[tuple[LimitSide, ...]] = ("max", "min")


def _check(subject: Subject) -> Iterator[Finding]:
    namespace = namespace_of(subject.manifest)
    allowances = subject.stream.cached(_allowances_by_namespace)
    if namespace not in allowances:
        allowances[namespace] = Allowances(
            _bounds(subject.stream.objects.in_namespace(namespace).of_kind(_LIMIT_RANGE))
        )
    for template in subject.templates:
        for container in template.containers:
            yield from _check_container(container, allowances[namespace])


def _allowances_by_namespace(_: Stream) -> dict[str, Allowances]:
    return {}


def _bounds(ranges: Iterable[Json]) -> Iterator[Bound]:
    """Yield the bounds for containers, each with the amount that the LimitRange sets if a container sets none."""
    limits = [
        as_mapping(item)
        for limit_range in ranges
        for item in as_mappings(nested_map(limit_range, "spec").get("limits"))
    ]
    for number, limit in enumerate(limits):
        if limit.get("type") != "Container":
            continue
        defaults = {**as_mapping(limit.get("max")), **as_mapping(limit.get("default"))}
        fallbacks = {"max": defaults, "min": {**as_mapping(limit.get("defaultRequest")), **defaults}}
        for side in _SIDES:
            for position, (resource, bound) in enumerate(as_mapping(limit.get(side)).items()):
                allowed = quantity.parse(bound)
                if allowed is not None:
                    order = (number, _SIDES.index(side), position)
                    yield Bound(order, side, resource, allowed, parse_amount(fallbacks[side].get(resource)))


def _check_container(container: ManifestContainer, allowances: Allowances) -> Iterator[Finding]:
    amounts: dict[LimitSide, Json] = {"max": container.limits, "min": {**container.limits, **container.requests}}
    broken = [
        (bound, bound.default)
        for bound in allowances.broken_defaults((side, name) for side in _SIDES for name in amounts[side])
    ]
    for side in _SIDES:
        for resource, value in amounts[side].items():
            requested = parse_amount(value)
            if requested is not None:
                broken += [(bound, requested) for bound in allowances.broken_by(side, resource, requested)]
    for bound, requested in sorted(broken, key=lambda pair: pair[0].order):
        half = "limits" if bound.side == "max" else "requests"
        word = "maximum" if bound.side == "max" else "minimum"
        text = f"{word} {bound.resource} usage per Container is {bound.allowed}, but {half.rstrip('s')} is {requested}"
        help = f"request at {'most' if bound.side == 'max' else 'least'} {bound.allowed}, or use another namespace"
        yield found_at((*container.path, "resources", half, bound.resource), text, help)


RULE = Rule("breaks-limit-range", _check, severity="error", stage="pod", authority="kube-apiserver")

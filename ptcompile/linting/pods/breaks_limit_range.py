"""A container requests less or more than a LimitRange of its namespace allows.

What: the stream has a LimitRange of the pods' namespace, and a container's request is below its `min`, its limit above
its `max`, or a limit that `max` asks for is missing and has no default.

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

from collections.abc import Iterator

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.untyped import at, items, mapping, namespace
from ptcompile.linting.rule import Found, Rule, found_at
from ptcompile.linting.subject import Container, Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.untyped import Json

_LIMIT_RANGE: Final = ("v1", "LimitRange")


def _check(subject: Subject) -> Iterator[Found]:
    space = namespace(subject.manifest)
    limits = [
        mapping(one)
        for found in subject.stream.objects.within(space).of(_LIMIT_RANGE)
        for one in items(at(found, "spec").get("limits"))
        if mapping(one).get("type") == "Container"
    ]
    for template in subject.templates:
        for container in template.containers:
            for limit in limits:
                yield from _of(container, limit)


def _of(container: Container, limit: Json) -> Iterator[Found]:
    defaults = {**mapping(limit.get("max")), **mapping(limit.get("default"))}
    limits = {**defaults, **container.limits}
    requests = {**defaults, **mapping(limit.get("defaultRequest")), **limits, **container.requests}
    for field, side, amounts in (("max", "limits", limits), ("min", "requests", requests)):
        for resource, bound in mapping(limit.get(field)).items():
            allowed, asked = quantity.parse(bound), quantity.parse(_text(amounts.get(resource)))
            if allowed is not None and asked is not None and _breaks(field, asked, allowed):
                path = (*container.path, "resources", side, resource)
                word = "maximum" if field == "max" else "minimum"
                said = f"{word} {resource} usage per Container is {allowed}, but {side.rstrip('s')} is {asked}"
                help = f"ask for {allowed} at {'most' if field == 'max' else 'least'}, or use another namespace"
                yield found_at(path, f"{said}", help)


def _breaks(field: str, asked: Quantity, allowed: Quantity) -> bool:
    return asked > allowed if field == "max" else asked < allowed


def _text(value: Any) -> Any:
    return None if isinstance(value, bool) else value


RULE = Rule("breaks-limit-range", _check, severity="error", stage="pod", authority="kube-apiserver")

"""A reference names a key that its ConfigMap or Secret does not have.

PTC317 missing-config-key: error at pod, by kubelet.
Needs: @ConfigMap/@Secret

What: an env entry or a volume item that is not optional names a key that the ConfigMap or Secret of
the same stream lacks.

Why: the kubelet does not start the container: it stays in CreateContainerConfigError, or in
ContainerCreating for a volume.

Example: pod.yaml with

      apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings}
      data: {learning-rate: "0.1"}
      ---
      - name: pytorch
        env:
          - name: LEARNING_RATE
            valueFrom:
              configMapKeyRef:
                name: settings
    -           key: lr  # <--
    +           key: learning-rate

Fix: use an existing key.

Source: kubelet 1.36, env from ConfigMaps and Secrets, items of their volumes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Path
from ptcompile.kinds.references import references
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.mounted import data_keys

_KINDS = ("ConfigMap", "Secret")


def check(subject: Subject) -> Findings:
    if not any(subject.neighbors.of_kind(("v1", kind)) for kind in _KINDS):
        return
    for path, kind, name, key in _required_keys(subject):
        source = subject.find(kind, name) if kind in _KINDS else None
        present = data_keys(source) if source is not None else [key]
        if not key or key in present:
            continue

        suggestion = closest_match(key, sorted(present))
        hint = f" (did you mean {suggestion}?)" if suggestion else ""
        yield found_at(
            path,
            f"the {kind} {name} has no key {key}{hint}, so the container never starts",
            f"write {suggestion}" if suggestion else "use an existing key, or add it",
        )


def _required_keys(subject: Subject) -> Iterator[tuple[Path, str, str, str]]:
    """Yield each key that must exist: its path, and the kind and name of its object."""
    for template in subject.templates:
        for reference in references(template.spec, template.spec_path):
            if reference.is_optional:
                continue
            for path, key in reference.keys:
                yield path, reference.kind, reference.name, key

"""A Job reads a completion index that its pods do not have.

PTC712 index-without-indexed-job: warning at run (fails), by kube-apiserver.
Needs: completion index

What: a Job that is not Indexed refers to JOB_COMPLETION_INDEX, or to the annotation or label
batch.kubernetes.io/job-completion-index.

Why: only `completionMode: Indexed` gives pods an index. The variable is missing or empty: every pod
has the same rank, or none.

Example:

      apiVersion: batch/v1
      kind: Job
      metadata: {name: shards}
      spec:
    +   completionMode: Indexed
        completions: 4
        parallelism: 4
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: main
                image: ghcr.io/acme/shards:1.0
                resources: {limits: {cpu: 8, memory: 64Gi}}
                env:
                  - name: SHARD
                    valueFrom:
                      fieldRef:
                        fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']  # <--

Fix: set completionMode to Indexed, with completions.

Source: Kubernetes 1.36, Indexed Jobs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import nested_int, nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import ManifestContainer

_VARIABLE = "JOB_COMPLETION_INDEX"
_REFERENCES = (f"${_VARIABLE}", f"$({_VARIABLE})", f"${{{_VARIABLE}}}")
_FIELD = "batch.kubernetes.io/job-completion-index"


def check(subject: Subject) -> Findings:
    if subject.spec.get("completionMode") == "Indexed":
        return
    for container in subject.containers:
        path = next(_index_paths(container), None)
        if path is not None:
            edits = [Edit("set", ("spec", "completionMode"), "Indexed")]
            if subject.spec.get("completions") is None:
                pods = nested_int(subject.spec, "parallelism", default=1)
                edits.append(Edit("set", ("spec", "completions"), pods))

            yield found_at(
                path,
                "refers to the completion index, which pods of a Job that is not Indexed do not "
                "have",
                "set completionMode to Indexed",
                Fix("make the Job Indexed", tuple(edits)),
            )


def _index_paths(container: ManifestContainer) -> Iterator[Path]:
    """Yield the paths where a container uses its index, unless it sets a variable of that name
    itself.
    """
    for entry in container.variables:
        if _FIELD in nested_string(entry.source, "fieldRef", "fieldPath"):
            yield (*entry.path, "valueFrom", "fieldRef", "fieldPath")
        if entry.name == _VARIABLE:
            return

    for token in container.argv:
        if any(reference in token.text for reference in _REFERENCES):
            yield token.path

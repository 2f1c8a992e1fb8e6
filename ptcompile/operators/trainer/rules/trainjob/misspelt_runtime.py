"""The runtime's name is almost one that Trainer installs.

PTC241 misspelt-runtime: warning at apply, by trainer.

What: runtimeRef names a runtime that is not in the file and not built in, and is one letter away
from one that is.

Why: the webhook rejects a TrainJob whose runtime does not exist.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      metadata: {name: train}
      spec:
    -   runtimeRef:
    -     name: torch-distributd  # <--
    +   runtimeRef: {name: torch-distributed}
        trainer: {numNodes: 1}

Fix: correct the name; ignore this where a runtime of that name is installed.

Source: Trainer 2.3, the ClusterTrainingRuntimes that it installs.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_string
from ptcompile.linter.rule import Findings, Subject, corrected_at
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.rules.reading import runtime_of


def check(subject: Subject) -> Findings:
    ref = nested_map(subject.spec, "runtimeRef")
    name = nested_string(ref, "name")
    installed = runtimes.referenced_kind(ref) == runtimes.CLUSTER_KIND
    if not runtime_of(subject).assumed or not installed or len(name) > 63:
        return

    suggestion = next((builtin for builtin in runtimes.BUILTIN if _is_near(name, builtin)), None)
    if suggestion is not None:
        yield corrected_at(
            ("spec", "runtimeRef", "name"),
            f"Trainer installs no runtime {name}, and no file defines one: did you mean "
            f"{suggestion}?",
            suggestion,
        )


def _is_near(name: str, candidate: str) -> bool:
    """Return whether the names differ by one letter, a swap of two, or other separators. Digits
    must be equal.
    """
    if [c for c in name if c.isdigit()] != [c for c in candidate if c.isdigit()]:
        return False
    if name.lower().replace("_", "-") == candidate:
        return True

    # what both begin with is left out
    i = next(
        (i for i, (a, b) in enumerate(zip(name, candidate, strict=False)) if a != b),
        min(len(name), len(candidate)),
    )
    rest = name[i:]
    candidate_rest = candidate[i:]
    swapped = rest[1:2] + rest[:1] + rest[2:]
    has_one_more = rest[1:] == candidate_rest
    has_one_less = rest == candidate_rest[1:]
    has_another = rest[1:] == candidate_rest[1:]
    return has_one_more or has_one_less or has_another or swapped == candidate_rest

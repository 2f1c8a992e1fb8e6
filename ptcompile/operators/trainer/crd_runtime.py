"""The CEL rules of the TrainingRuntime and ClusterTrainingRuntime CRDs (Trainer 2.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes.untyped import at
from ptcompile.operators.common.crd import entries, refusal
from ptcompile.operators.jobset.crd import jobset_spec_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_POLICIES: Final = ("torch", "mpi", "jax", "xgboost", "flux")


def training_runtime_rules(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """The rules of a runtime's ML policy, and of the JobSet spec in its template."""
    spec = at(manifest, "spec")
    policy = at(spec, "mlPolicy")
    path: Path = ("spec", "mlPolicy")
    yield from _one_policy(policy, path)
    for name in ("flux", "mpi"):
        count = at(policy, name).get("numProcPerNode")
        if type(count) is int and count < 1:
            where = (*path, name, "numProcPerNode")
            yield refusal(where, f"NumProcPerNode in {name}Policy must be >= 1", "write 1 or more")
    yield from _targets(at(policy, "torch", "envInjection"), (*path, "torch", "envInjection"))
    yield from jobset_spec_rules(at(spec, "template", "spec"), ("spec", "template", "spec"))


def _one_policy(policy: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    given = [name for name in _POLICIES if policy.get(name) is not None]
    if len(given) > 1:
        yield refusal((*path, given[1]), "Only one of the policy can be configured", f"keep one of {', '.join(given)}")


def _targets(injection: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    for index, target in entries(injection, "targets"):
        names = target.get("containerNames")
        if isinstance(names, list) and "node" in names:
            yield refusal(
                (*path, "targets", index, "containerNames", names.index("node")),
                "containerNames must not include the main node container "
                "because PET_* envs are always injected into it",
                'remove "node"',
            )

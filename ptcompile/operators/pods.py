"""Manifest -> the pods that an operator would create, by API version and kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module

from ptcompile.kubernetes.untyped import Json, kind_of
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.common.expansion import ContainerView, Context, Expand, Expansion, Pods, PodView, Role

__all__ = ["EXPANDERS", "ContainerView", "Context", "Expand", "Expansion", "PodView", "Pods", "Role", "expand"]

EXPANDERS: dict[tuple[str, str], str] = {
    ("v1", "Pod"): "pod.pods",
    ("batch/v1", "Job"): "batch.pods",
    ("kubeflow.org/v1", "PyTorchJob"): "pytorchjob.pods",
    ("batch.volcano.sh/v1alpha1", "Job"): "volcano.pods",
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): "jobset.pods",
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): "trainer.pods",
}
"""The module of this package whose `expand` knows the kind; imported when a manifest of the kind comes by."""


_KEPT = 4
"""Pods of a role that are not built again: the first ones and the last are asked for again and again."""


def expand(manifest: Json, *, versions: Versions | None = None, others: Sequence[Json] = ()) -> Expansion:
    """What the operator of this manifest creates; nothing for a kind that creates no pods.

    `others` are the other objects of the same stream: runtimes and Services. Never raises, whatever the data.
    """
    name = EXPANDERS.get(kind_of(manifest))
    if name is None:
        return Expansion()
    expander: Expand = import_module(f"ptcompile.operators.{name}").expand
    made = expander(manifest, Context(versions or Versions(), others))
    return made._replace(roles=tuple(role._replace(pod=lru_cache(maxsize=_KEPT)(role.pod)) for role in made.roles))

"""Manifest -> the pods that an operator would create, by API version and kind."""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.expand import job, jobset, pod, pytorchjob, trainjob, volcano
from ptcompile.expand.world import ContainerView, Context, Expand, Expansion, Pods, PodView, Role
from ptcompile.plain import Json, kind_of
from ptcompile.versions import Versions

__all__ = ["EXPANDERS", "ContainerView", "Context", "Expand", "Expansion", "PodView", "Pods", "Role", "expand"]

EXPANDERS: dict[tuple[str, str], Expand] = {
    ("v1", "Pod"): pod.expand,
    ("batch/v1", "Job"): job.expand,
    ("kubeflow.org/v1", "PyTorchJob"): pytorchjob.expand,
    ("batch.volcano.sh/v1alpha1", "Job"): volcano.expand,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): jobset.expand,
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): trainjob.expand,
}


def expand(manifest: Json, *, versions: Versions | None = None, others: Sequence[Json] = ()) -> Expansion:
    """What the operator of this manifest creates; nothing for a kind that creates no pods.

    `others` are the other objects of the same stream: runtimes and Services. Never raises, whatever the data.
    """
    expander = EXPANDERS.get(kind_of(manifest))
    if expander is None:
        return Expansion()
    return expander(manifest, Context(versions or Versions(), others))

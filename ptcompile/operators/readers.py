"""Who reads which kind back into the words of a spec."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ptcompile.kubernetes.untyped import Json
from ptcompile.operators.batch.read import read as batch
from ptcompile.operators.common.read import Read
from ptcompile.operators.jobset.read import read as jobset
from ptcompile.operators.pod.read import read as pod
from ptcompile.operators.pytorchjob.read import read as pytorchjob
from ptcompile.operators.trainer.read import read as trainjob
from ptcompile.operators.volcano.read import read as volcano

Reader = Callable[[Json, tuple[Json, ...]], Iterator[Read]]
"""From an object, and those beside it, to the ways to read it, the best first. Total: any data, never an exception."""

READERS: Final[dict[tuple[str, str], Reader]] = {
    ("v1", "Pod"): pod,
    ("batch/v1", "Job"): batch,
    ("kubeflow.org/v1", "PyTorchJob"): pytorchjob,
    ("batch.volcano.sh/v1alpha1", "Job"): volcano,
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): trainjob,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): jobset,
}

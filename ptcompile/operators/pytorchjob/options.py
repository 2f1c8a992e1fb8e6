"""The fields of a PyTorchJob that the operator turns into options of torchrun (training-operator 1.9)."""

from ptcompile.findings.diagnostics import Path

_ELASTIC = ("spec", "elasticPolicy")

OPTIONS: dict[str, tuple[Path, ...]] = {
    "nproc-per-node": (("spec", "nprocPerNode"), (*_ELASTIC, "nProcPerNode")),
    "nnodes": ((*_ELASTIC, "maxReplicas"), (*_ELASTIC, "minReplicas")),
    "rdzv-backend": ((*_ELASTIC, "rdzvBackend"),),
    "rdzv-endpoint": ((*_ELASTIC, "rdzvHost"), (*_ELASTIC, "rdzvPort")),
    "rdzv-id": ((*_ELASTIC, "rdzvId"),),
    "rdzv-conf": ((*_ELASTIC, "rdzvConf"),),
    "max-restarts": ((*_ELASTIC, "maxRestarts"),),
    "standalone": ((*_ELASTIC, "standalone"),),
}

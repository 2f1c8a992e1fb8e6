"""The fields of a TrainJob that Trainer turns into options of torchrun (Trainer 2.3)."""

from ptcompile.findings.diagnostics import Path

OPTIONS: dict[str, tuple[Path, ...]] = {
    "nproc-per-node": (("spec", "trainer", "numProcPerNode"),),
    "nnodes": (("spec", "trainer", "numNodes"),),
}

"""Mistakes that type checkers report at exactly the lines that end in `# wrong`."""

from __future__ import annotations

import ptcompile
from ptcompile import (
    ClusterProfile,
    Elastic,
    JobSpec,
    Metadata,
    ProfileSpec,
    Resources,
    RoleSpec,
    RunPolicy,
    Spec,
)

Metadata(name=3)  # wrong
Elastic(nproc_per_node="all")  # wrong
Elastic(nproc=8)  # wrong
Elastic(max_restarts="3")  # wrong
Resources(cpu=[32])  # wrong
Resources(gpus=8)  # wrong
RunPolicy(clean_pod_policy="Always")  # wrong
JobSpec(image="img:1", nods=4)  # wrong
JobSpec(image="img:1", args="--epochs 3")  # wrong
JobSpec(image="img:1", env={"A": 1})  # wrong
JobSpec(image="img:1", elastic={"nnodes": 2})  # wrong
JobSpec(image="img:1", sharedMemory=True)  # wrong
JobSpec(image="img:1", worker=RoleSpec(replicas=None))  # wrong
ProfileSpec(queue_system="slurm")  # wrong
ClusterProfile(spec={})  # wrong

spec = Spec(metadata=Metadata(name="a"), spec=JobSpec(image="img:1", script="train.py"))
Spec(metadata=Metadata(name="a"))  # wrong
ptcompile.compile(3)  # wrong
ptcompile.compile(spec, target=3)  # wrong
ptcompile.compile(spec, "volcano")  # wrong
ptcompile.compile(spec).text()  # wrong
ptcompile.lint(spec.document(), webhooks="no")  # wrong
ptcompile.compile(spec, extensions=["acme"])  # wrong
ptcompile.extensions("acme", rules="x")  # wrong

"""The runtime's subdomain is not where torchrun looks for the first node.

PTC455 runtime-subdomain: error at run (fails), by trainer.
Needs: subdomain

What: the runtime has a torch policy, and its JobSet's network.subdomain is set.

Why: Trainer writes PET_MASTER_ADDR as <job>-node-0-0.<job>. With another subdomain that host does
not resolve; and all TrainJobs of a namespace would share one Service.

Example: runtime.yaml with

      template:
        spec:
    -     network:
    -       subdomain: ranks  # <--
          replicatedJobs:

Fix: remove subdomain: it is then the TrainJob's name.

Source: Trainer 2.3, torch plugin; JobSet 0.12, network.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.trainer.rules.runtime.reading import JOBSET, jobset_spec, policy_of


def check(subject: Subject) -> Findings:
    name = nested_string(jobset_spec(subject), "network", "subdomain")
    if name and policy_of(subject) == "torch":
        path = (*JOBSET, "network", "subdomain")
        yield found_at(
            path,
            f"the hosts end in {name}, but PET_MASTER_ADDR ends in the TrainJob's name: it does "
            "not resolve",
            "remove subdomain",
            fix_removing("remove subdomain", path),
        )

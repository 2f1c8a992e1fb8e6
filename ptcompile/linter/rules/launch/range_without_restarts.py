"""With a range of nodes, the first lost node ends the training.

PTC776 range-without-restarts: warning at run (risks), by torchrun.
Needs: {TORCHRUN} nnodes/elasticPolicy

What: torchrun takes a range of nodes, and --max-restarts is 0, which is also the default; or the
range is a PyTorchJob's elasticPolicy, and restartPolicy is Never.

Why: when a node is lost, the processes of the others fail in the middle of a collective. torchrun
restarts them with fewer nodes only if it has restarts left. A job that fails ends its other pods,
or goes on without replacing the lost one.

Example: jobset.yaml with

      - name: pytorch
        env: [{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: "1"}]
        command:
          - torchrun
          - --nnodes=1:2  # <--
          - --rdzv-backend=c10d
          - --rdzv-endpoint=train-node-0-0.train:29400
    +     - --max-restarts=3
          - train.py

Fix: give --max-restarts and let the operator replace lost pods, or write one number of nodes.

Source: PyTorch 2.13, torch/distributed/elastic/agent/server/api.py: a failed worker group is
restarted while restarts remain.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for roles in subject.torchrun_groups:
        first = roles[0]
        rendezvous = first.rendezvous
        if not rendezvous.is_range or rendezvous.backend == "static" or first.is_standalone:
            continue

        if rendezvous.max_restarts == "0":
            reason = "with max-restarts 0 the first lost node ends the training on all nodes"
            help = "raise it to 3"
            if first.source_of("max-restarts") == "default":
                help = "add --max-restarts=3"
        elif "elasticPolicy" in subject.spec and _fails_with_a_pod(subject, first.expanded.name):
            reason = (
                "with restartPolicy Never the first failed pod fails the job, and nothing "
                "replaces it"
            )
            help = "write restartPolicy: OnFailure"
        else:
            continue

        yield found_at(
            first.path_of("nnodes"),
            f"{rendezvous.nodes_text} nodes are a range, but {reason}",
            f"{help}, or write one number of nodes",
        )


def _fails_with_a_pod(subject: Subject, role: str) -> bool:
    """Return whether the job fails with the first lost pod of the role. Another rule reports
    spot nodes.
    """
    from ptcompile.linter.spot import spot_label

    template = subject.template_of(role.lower())
    lost = subject.lost_pod(role if template is None else template.role)

    return (
        lost is not None
        and lost.recreated == "none"
        and not (template is not None and spot_label(template))
    )

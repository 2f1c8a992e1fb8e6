"""The TrainJob's command is run with the runtime's arguments.

PTC453 inherited-args: warning at run (differs), by trainer.
Needs: command

What: trainer.command without trainer.args, where the runtime's container node has args.

Why: the two are replaced separately: the runtime's args stay, after the new command.

Example: runtime.yaml with

      image: ghcr.io/acme/train:1.0
      command: [torchrun, default.py]
      args: [--epochs, "1"]
      ---
      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      metadata: {name: train}
      spec:
        runtimeRef: {name: acme-torch}
        trainer:
          numNodes: 1
          numProcPerNode: 1
          command: [torchrun, train.py]  # <--
    +     args: [--lr, "0.1"]

Fix: also write args.

Source: Trainer 2.3, JobSet builder.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_strings
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.rules.reading import runtime_of


def check(subject: Subject) -> Findings:
    trainer = nested_map(subject.spec, "trainer")
    if not trainer.get("command") or trainer.get("args") is not None or runtime_of(subject).assumed:
        return

    for node in runtimes.trainer_nodes(runtime_of(subject).source):
        args = nested_strings(node, "args")
        if args:
            text = " ".join(args)
            yield found_at(
                ("spec", "trainer", "command"),
                "the runtime's args are still appended: "
                f"{text[:60]}{'...' if len(text) > 60 else ''}",
                "set args too",
            )

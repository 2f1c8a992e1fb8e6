"""A label or annotation is where no program reads it.

PTC258 misplaced-key: warning at run (differs), by ptcompile.
Needs: {KEY_WORDS}

What: a key that one program reads in one place only is in another: on the job instead of its pods,
on the pods instead of the object, among the labels instead of the annotations, on pods though it is
a label of nodes. Or it has a name that the program no longer reads, or a value that means nothing
to it. Reported as a note if the place is known from memory.

Why: a label or annotation that no program reads is accepted by every API server and does nothing.
The pods get no second network, no sidecar and no protection from the autoscaler, and no message
says so.

Example: job.yaml with

      metadata:
        name: train
    -   annotations: {karpenter.sh/do-not-disrupt: "true"}  # <--
      spec:
        template:
    +     metadata:
    +       annotations: {karpenter.sh/do-not-disrupt: "true"}
          spec:

Fix: move it to where it is read.

Source: ptcompile/linter/key_places.json, which names the source of each key. A webhook of the
cluster that copies annotations is not seen here.
"""

from __future__ import annotations

from ptcompile.linter.key_places import unread_findings
from ptcompile.linter.rule import Findings, Subject


def check(subject: Subject) -> Findings:
    return unread_findings(subject, "misplaced-key")

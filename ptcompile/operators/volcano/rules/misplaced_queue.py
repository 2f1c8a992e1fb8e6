"""A queue is named where Volcano does not look for a Job's queue.

PTC237 misplaced-queue: warning at run (differs), by volcano.
Needs: queue

What: a label or an annotation of the Job or of a template names a queue, and spec.queue names
another one, or none.

Why: a Job's queue is only spec.queue. The annotation is for bare pods and PodGroups; here the job
waits in the queue default.

Example: volcano_job.yaml with

    - metadata:
    -   name: train
    -   annotations:
    -     scheduling.volcano.sh/queue-name: research  # <--
    + metadata: {name: train}
      spec:
    +   queue: research
        minAvailable: 1

Fix: write spec.queue.

Source: Volcano 1.16, job controller (createOrUpdatePodGroup).
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.volcano.rules.reading import QUEUE_KEYS, volcano_job


def check(subject: Subject) -> Findings:
    queue = volcano_job(subject).queue
    for metadata_path, mapping in subject.metadata_parts():
        for kind in ("labels", "annotations"):
            for key, value in nested_string_map(mapping, kind).items():
                if key in QUEUE_KEYS and value and value != queue:
                    path = (*metadata_path, kind, key)
                    edits = (Edit("set", ("spec", "queue"), value), Edit("remove", path))
                    yield found_at(
                        path,
                        f"the job's queue is spec.queue, which is {queue}: {value} is ignored",
                        f"set spec.queue to {value}",
                        Fix(f"set spec.queue to {value}", edits),
                    )

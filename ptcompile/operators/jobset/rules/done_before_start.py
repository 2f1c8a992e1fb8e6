"""The JobSet is done before some of its Jobs start.

PTC740 done-before-start: error at run (differs), by jobset.
Needs: successPolicy dependsOn

What: the Jobs that successPolicy counts are complete before a replicatedJob that depends on them is
created.

Why: once its success policy is met, the JobSet is Completed, and replicatedJobs that wait for that
are never created.

Example: one_node_jobset.yaml with

      spec:
        successPolicy:
          operator: All
    -     targetReplicatedJobs: [data]  # <--
    +     targetReplicatedJobs: [node]
        replicatedJobs:
          - name: data
            template:
              spec:
                completions: 1
                parallelism: 1
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - name: node
            dependsOn: [{name: data, status: Complete}]
            template:

Fix: name the Jobs that train in targetReplicatedJobs, or remove successPolicy: then all Jobs count.

Source: JobSet 0.12, successPolicy and dependsOn.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_maps, nested_string, nested_strings
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.jobset.rules.reading import name_of, replicated_jobs


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "successPolicy")
    job_names = [name_of(replicated) for _, replicated in replicated_jobs(subject)]
    targets = nested_strings(policy, "targetReplicatedJobs")
    is_any = policy.get("operator") == "Any"
    awaited = targets or (job_names if is_any else [])
    if not awaited:
        return

    unreached = _first_unreached(subject, awaited, is_any=is_any)
    if unreached is not None:
        path = ("spec", "successPolicy", "targetReplicatedJobs" if targets else "operator")
        condition = (" or " if is_any else " and ").join(awaited[:3])
        yield found_at(
            path,
            f"the JobSet is done when {condition} is, but {unreached} is created only then: it "
            "never runs",
            f"name {unreached} in targetReplicatedJobs" if targets else "use the operator All",
            fix_setting(f"look at {unreached}", path, [unreached]) if targets else None,
        )


def _first_unreached(subject: Subject, awaited: list[str], *, is_any: bool) -> str | None:
    """Return the first replicatedJob that starts only after any, or all, of the `awaited` ones
    complete, or None.

    Sets of Jobs are bit masks.
    """
    bits = {name: 1 << i for i, name in enumerate(dict.fromkeys(awaited))}
    all_bits = (1 << len(bits)) - 1
    completed_bits: dict[str, int] = {}
    # the webhook lets dependsOn name only earlier ones
    for _, replicated in replicated_jobs(subject):
        name = name_of(replicated)
        completed = 0
        for dependency in nested_maps(replicated, "dependsOn"):
            required_job = nested_string(dependency, "name")
            completed |= completed_bits.get(required_job, 0)
            if dependency.get("status") == "Complete":
                completed |= bits.get(required_job, 0)

        completed_bits[name] = completed
        is_done = completed > 0 if is_any else completed == all_bits
        if is_done:
            return name

    return None

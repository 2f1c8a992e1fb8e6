"""The JobSet is done before some of its Jobs start.

What: the Jobs that successPolicy looks at are complete before a replicatedJob that depends on them is created.

Why: with its success policy fulfilled the JobSet is Completed: what waits for that moment is never started.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
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

Fix: name the Jobs that train in targetReplicatedJobs, or remove successPolicy: then all Jobs count.

Source: JobSet 0.12, successPolicy and dependsOn.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import as_mappings, as_string, as_strings, nested_map
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.operators.jobset.rules.reading import jobs, name_of


def _check(subject: Subject) -> Iterator[Finding]:
    policy = nested_map(subject.spec, "successPolicy")
    known = [name_of(replicated) for _, replicated in jobs(subject)]
    targets = as_strings(policy.get("targetReplicatedJobs"))
    some = policy.get("operator") == "Any"
    looked_at = targets or (known if some else [])
    if not looked_at:
        return
    first = _never_made(subject, looked_at, some=some)
    if first is not None:
        path: Path = ("spec", "successPolicy", "targetReplicatedJobs" if targets else "operator")
        done = (" or " if some else " and ").join(looked_at[:3])
        yield found_at(
            path,
            f"the JobSet is done when {done} is, but {first} is created only then: it never runs",
            f"name {first} in targetReplicatedJobs" if targets else "use the operator All",
            Fix(f"look at {first}", (Edit("set", path, [first]),), safe=False) if targets else None,
        )


def _never_made(subject: Subject, looked_at: list[str], *, some: bool) -> str | None:
    """The first replicatedJob that starts when any, or all, of these are complete. A set is the bits of a number."""
    bits = {name: 1 << i for i, name in enumerate(dict.fromkeys(looked_at))}
    every = (1 << len(bits)) - 1
    before: dict[str, int] = {}
    for _, replicated in jobs(subject):  # dependsOn names earlier ones only, or the webhook refuses it
        name, seen = name_of(replicated), 0
        for one in as_mappings(replicated.get("dependsOn")):
            on = as_string(one.get("name"))
            seen |= before.get(on, 0) | (bits.get(on, 0) if one.get("status") == "Complete" else 0)
        before[name] = seen
        if seen if some else seen == every:
            return name
    return None


RULE = Rule("done-before-start", _check, severity="error", stage="run", authority="jobset")

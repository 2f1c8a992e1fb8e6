"""What of a job violates the Pod Security level that its spec, or the profile, asks for."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.compiling.build import Built
from ptcompile.compiling.location import POD_SECURITY, Finding


def violations(built: Built) -> Iterator[Finding]:
    """Yield what Pod Security Admission would reject."""
    cluster = built.context.cluster
    level = built.job.pod_security or cluster.spec.pod_security
    if not level:
        return
    from ptcompile.validate.pod_security import pod_security_problems

    server = cluster.versions().kubernetes
    for index, manifest in enumerate(built.named):
        for problem in pod_security_problems(manifest, (), level, server):
            yield Finding(problem, index, POD_SECURITY)

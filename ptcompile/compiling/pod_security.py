"""What of a job violates the Pod Security level that its spec, or the profile, asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ptcompile.findings.diagnostics import Problem
from ptcompile.job.model import Job
from ptcompile.kubernetes.versions import Version
from ptcompile.validate.pod_security import pod_security_problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AtLines = Callable[[Iterable[tuple[int, Problem]]], Iterable[Problem]]


def violations(
    level: str, job: Job, manifests: Sequence[Mapping[str, Any]], server: Version, at_lines: AtLines
) -> Iterator[Problem]:
    """What Pod Security Admission would reject, at the lines of the spec. A fabric that needs more is named."""
    found = (
        (index, each) for index, one in enumerate(manifests) for each in pod_security_problems(one, (), level, server)
    )
    told = list(at_lines(found))
    at_a_line = [one for one in told if one.path != ("spec",)]  # the others follow from them
    for problem in at_a_line or told:
        if problem.path == ("spec", "fabric"):
            help = f"the fabric {job.fabric} needs a namespace of the level privileged: set podSecurity: privileged"
            problem = problem._replace(help=help)
        yield problem

"""A workload with all that is told of it: how its pods meet, what its failures do, its gang."""

from __future__ import annotations

from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.pods import expand
from ptcompile.simulation.pod import Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json


class Job(Workload):
    """One workload manifest and all that comes of it. The first two pods and the last of each role are built once."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it is made of: roles build their pods by functions, which cannot be pickled."""
        return job_of, (self.manifest, self.given, self.versions, self.target)

    @property
    def failure(self) -> tuple[str, ...]:
        """What happens when a pod fails, and when the job ends: one sentence each."""
        from ptcompile.simulation.agents import agents_of
        from ptcompile.simulation.failure import on_failure
        from ptcompile.simulation.faults import sentences
        from ptcompile.simulation.meeting import meeting

        agents = agents_of(self, meeting(self))
        return (*on_failure(self.manifest, self.given), *(sentences(agents) if agents else ()))

    @property
    def pod_group(self) -> Json | None:
        """The gang, with what its pods ask for together; None where there is none."""
        from ptcompile.simulation.podgroup import pod_group

        return pod_group(self.manifest, self.expansion, self.given)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, who has to let the job in, and what a live cluster leaves to chance."""
        from ptcompile.operators.common.notes import notes

        return (*self.expansion.notes, *notes(self.manifest))


def job_of(manifest: Json, given: Objects, versions: Versions, target: str | None) -> Job:
    """One job among the objects of its stream."""
    return Job(manifest, expand(manifest, versions=versions, others=given), given, target, versions)

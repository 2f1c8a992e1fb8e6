"""The proof: a spec compiled with all checks, and compared with what came in by the project's own `diff`."""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.compiling.compiler import compile_document
from ptcompile.diffing import ObjectDifference, Side, compare
from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import at, kind_of, object_name, text
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.importing.draft import Spec
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.vocabulary.cluster.model import ClusterProfile


class Proof(NamedTuple):
    """What a spec compiles to against what came in."""

    objects: tuple[ObjectDifference, ...]
    problems: tuple[Problem, ...]
    """What compiling it said; paths are those of the spec."""
    compiled: bool

    @property
    def same_world(self) -> bool:
        """Whether every pod lives as before."""
        missing = any(one.before is None or one.after is None for one in self.objects)
        return self.compiled and not missing and not any(one.facts for one in self.objects)

    @property
    def same_manifest(self) -> bool:
        """Whether no path of any object differs."""
        return self.same_world and not any(one.changes for one in self.objects)


def prove(spec: Spec, given: Sequence[Json], beside: Sequence[Json], cluster: ClusterProfile) -> Proof:
    """Compare what the spec compiles to with the objects that it is made of. `beside` are kept as they are."""
    compiled = compile_document(spec, cluster)
    if not compiled.manifests:
        return Proof((), compiled.problems, compiled=False)
    versions = cluster.versions()
    made = {_identity(one) for one in compiled.manifests}
    kept = [one for one in beside if _identity(one) not in made]
    before = Side([*given, *beside], versions)
    return Proof(compare(before, Side([*compiled.manifests, *kept], versions)), compiled.problems, compiled=True)


def _identity(manifest: Json) -> tuple[object, ...]:
    return kind_of(manifest), text(at(manifest, "metadata").get("namespace")), object_name(manifest)

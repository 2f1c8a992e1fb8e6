"""The words of a spec that describe pods, each with its place in a pod template: the one table of them.

Read by lowering and what a null keeps empty (`compiler.frontend.lowering`), by the check of Kubernetes' own words
(`compiler.checks.kubernetes_fields`), by what finds the line of a finding (`compiler.trace`), and by import
(`importer.pod_template`, `importer.draft`).
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal

    Holder = Literal["metadata", "spec", "main"]
    """What a field is in: the template's metadata, its pod spec, or the container that trains."""


class PodWord(NamedTuple):
    """A word of a spec and the field of a pod template that it becomes."""

    word: str
    attribute: str
    holder: Holder
    field: str
    foreign: bool = False
    """Whether its value is in Kubernetes' own words, so that Kubernetes' decoder has to be asked about it."""
    nullable: bool = False
    """Whether null is a word of its own, for the field itself or for its entries."""


def _row(holder: Holder, word: str, field: str = "", *, foreign: bool = False, nullable: bool = False) -> PodWord:
    attribute = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in word)
    return PodWord(word, attribute, holder, field or word, foreign, nullable)


POD_WORDS: Final = (
    _row("metadata", "podLabels", "labels", nullable=True),
    _row("metadata", "podAnnotations", "annotations", nullable=True),
    _row("main", "image"),
    _row("main", "imagePullPolicy", nullable=True),
    _row("main", "command"),
    _row("main", "args"),
    _row("main", "workingDir", nullable=True),
    _row("main", "envFrom", foreign=True),
    _row("main", "env", foreign=True, nullable=True),
    _row("main", "resources"),
    _row("main", "volumeMounts", foreign=True),
    _row("main", "securityContext", foreign=True),
    _row("spec", "serviceAccountName", nullable=True),
    _row("spec", "schedulerName", nullable=True),
    _row("spec", "priorityClassName", nullable=True),
    _row("spec", "hostNetwork"),
    _row("spec", "terminationGracePeriodSeconds", foreign=True, nullable=True),
    _row("spec", "imagePullSecrets", foreign=True),
    _row("spec", "podSecurityContext", "securityContext", foreign=True),
    _row("spec", "nodeSelector", nullable=True),
    _row("spec", "affinity", foreign=True),
    _row("spec", "tolerations", foreign=True),
    _row("spec", "volumes", foreign=True),
)
"""restartPolicy is not among them: a target decides it for the kind that it writes."""


def in_holder(holder: Holder) -> dict[str, str]:
    """The words of one holder, by the field that they become."""
    return {one.field: one.word for one in POD_WORDS if one.holder == holder}

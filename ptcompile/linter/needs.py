"""Words that an object must contain for a rule to be loaded.

Half of a cold start would be rules that have nothing to find: each is a file of its own. So each stands in its family's
table with its needs: words apart by spaces are all needed, of `a/b` one is enough, and letter case means nothing. A
word is a run of ASCII letters and digits in a key or a text of the object, or one of the signs `$ & | < > ;`:
`nvidia.com/gpu` has `nvidia`, `com` and `gpu`, `--nproc_per_node` has `nproc`, `per` and `node`. The word `@Service`
is there where an object of that kind stands in the stream, and `@blank` where a text has a blank or a line's end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile.linter.subject import Subject
from ptcompile.registry.model import Kind, is_overridden
from ptcompile.registry.table import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


def kind_words(wanted: Callable[[Kind], object]) -> str:
    """A word of each of these kinds."""
    found = [kind for _, kind in KINDS.values() if wanted(kind)]
    return "/".join(dict.fromkeys(kind.word or kind.name for kind in found))


VENDORS: Final = "nvidia/amd/intel/habana/google/amazon/huawei"
"""Whose accelerators there are: one is in the name of each resource (`hardware.accelerators`)."""

TORCHRUN: Final = "torchrun/torch"
"""By its own name, or as `-m torch.distributed.run`."""

NODE_LAUNCHERS: Final = "torchrun/torch/accelerate/deepspeed/composer"
"""Launchers whose options say how many nodes meet (`simulator.launchers`)."""

RENDEZVOUS_WORDS: Final = f"{NODE_LAUNCHERS}/master/world"
"""Those, or a script that its variables tell of others."""

TRAINING_LAUNCHERS: Final = "torchrun/torch/accelerate/deepspeed/composer/mpirun/mpiexec"
"""A launcher of training processes (`commands.LAUNCHERS`)."""

SHELLS: Final = "bash/sh/dash/zsh/ash/ksh"

RUNTIME_KINDS: Final = kind_words(lambda kind: is_overridden(kind, Kind.runtime))
"""The kinds of which another object has what they do not say."""

NPROC: Final = f"nproc/nprocPerNode/numProcPerNode/{RUNTIME_KINDS}"
"""Who says how many processes a node has; where the kind has no number its resources do."""

MULTI_POD_KINDS: Final = kind_words(lambda kind: kind.meeting.roles or is_overridden(kind, Kind.recreates))
"""The kinds that may make several pods."""

MULTI_ROLE_KINDS: Final = kind_words(lambda kind: kind.meeting.roles and is_overridden(kind, Kind.pods))
"""The kinds whose pods may have several templates."""

CLOSED_KINDS: Final = kind_words(lambda kind: is_overridden(kind, Kind.recreates) and not kind.meeting.open)
"""The kinds of which no pods of another object join."""

RETRYING_KINDS: Final = kind_words(lambda kind: is_overridden(kind, Kind.retries))
"""The kinds whose operator starts pods again, and counts."""

ENV_KINDS: Final = kind_words(lambda kind: kind.additions.env_of)
"""The kinds whose operator's variables win over the user's."""

COMPARED_KINDS: Final = kind_words(
    lambda kind: kind.meeting.roles and is_overridden(kind, Kind.templates) and not kind.meeting.all_pods
)
"""The kinds of several pod templates that are compared by the rules for any kind."""

TORCHRUN_FIELD_KINDS: Final = kind_words(lambda kind: kind.launch_fields.options)
"""The kinds with fields that become options of torchrun."""


Needs = tuple[frozenset[str], ...]
"""Of each of these an object has at least one, or the rule finds nothing in it."""

_SIGNS: Final = "$&|<>;"
_WORD_BYTES: Final = bytes(i if chr(i).isalnum() and i < 128 else ord(" ") for i in range(256))
"""Letters and digits as they are, and a space for each other byte."""
_JOINING_SIGNS: Final = "$\"'\\"
_find_joined_words = Pattern(r"""(?a)[$"'\\)}](?:(?<=\w\$)|(?<=\w["'\\])["'\\]*[\w$]|(?<=[)}])["'\\]*[\w$])""").search
"""Where a shell or the kubelet may make one word of several: `tor"ch"run`, `$A$B`, `${A}run`."""


def parse_needs(text: str) -> Needs:
    """The needs of a rule as its family's table has them, such as `torchrun/torch nnodes`."""
    return tuple(frozenset(one.split("/")) for one in text.casefold().split())


def words_of(subject: Subject) -> list[str] | None:
    """The words of an object, with the kinds of its stream and, of a TrainJob, the words of its runtime; some often.

    None where they cannot be told, since a text puts words together: then every rule is asked.
    """
    texts = subject.stream.texts.get(id(subject.manifest)) or _texts(subject.manifest)
    if subject.base is not None:
        texts |= _texts(subject.base.source)
    text = "\0".join(texts).casefold()
    if any(sign in text for sign in _JOINING_SIGNS) and _find_joined_words(text):
        return None
    words = text.encode("ascii", "replace").translate(_WORD_BYTES).decode("ascii").split()
    words += [sign for sign in _SIGNS if sign in text]
    if text.split(None, 1) != [text]:
        words.append("@blank")
    words += subject.stream.kinds
    return words


_COLLECTIONS: Final = (list, tuple, Mapping)
_LEAVES: Final = frozenset({int, bool, float, type(None)})


def _texts(data: Any) -> frozenset[str]:
    """All keys and all texts of plain data, each once."""
    found: set[Any] = set()
    boxes = [data]
    while boxes:
        box = boxes.pop()
        if type(box) is dict or (type(box) is not list and isinstance(box, Mapping)):
            found.update(box)
            box = box.values()
        for one in box:
            kind = type(one)
            if kind is str:
                found.add(one)
            elif kind is dict or kind is list or (kind not in _LEAVES and isinstance(one, _COLLECTIONS)):
                boxes.append(one)
    return frozenset([one for one in found if isinstance(one, str)])

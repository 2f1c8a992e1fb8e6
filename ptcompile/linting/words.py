"""The words of an object. A rule is loaded, and asked, only where the words are that it cannot do without.

Half of a cold start would be rules that have nothing to find: each is a file of its own. So each stands in its family's
table with its needs: words apart by spaces are all needed, of `a/b` one is enough, and letter case means nothing. A
word is a run of ASCII letters and digits in a key or a text of the object, or one of the signs `$ & | < > ;`:
`nvidia.com/gpu` has `nvidia`, `com` and `gpu`, `--nproc_per_node` has `nproc`, `per` and `node`. The word `@Service`
is there where an object of that kind stands in the stream, and `@blank` where a text has a blank or a line's end.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.kubernetes.patterns import Pattern
from ptcompile.linting.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

Needs = tuple[frozenset[str], ...]
"""Of each of these an object has at least one, or the rule finds nothing in it."""

_SIGNS: Final = "$&|<>;"
_APART: Final = bytes(i if chr(i).isalnum() and i < 128 else ord(" ") for i in range(256))
"""Letters and digits as they are, and a space for each other byte."""
_JOINING: Final = "$\"'\\"
_joined = Pattern(r"""(?a)[$"'\\)}](?:(?<=\w\$)|(?<=\w["'\\])["'\\]*[\w$]|(?<=[)}])["'\\]*[\w$])""").search
"""Where a shell or the kubelet may make one word of several: `tor"ch"run`, `$A$B`, `${A}run`."""


def needs(text: str) -> Needs:
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
    if any(sign in text for sign in _JOINING) and _joined(text):
        return None
    words = text.encode("ascii", "replace").translate(_APART).decode("ascii").split()
    words += [sign for sign in _SIGNS if sign in text]
    if text.split(None, 1) != [text]:
        words.append("@blank")
    words += subject.stream.kinds
    return words


_BOXES: Final = (list, tuple, Mapping)
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
            elif kind is dict or kind is list or (kind not in _LEAVES and isinstance(one, _BOXES)):
                boxes.append(one)
    return frozenset([one for one in found if isinstance(one, str)])

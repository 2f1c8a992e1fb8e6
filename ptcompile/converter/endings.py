"""What follows a failure and the end of a job: the sentences of two operators side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

_FAILURES = "failures"
_TOPICS = {
    "torchrun": ("torchrun ", "torchrun, "),
    "lost nodes": ("a lost node", "PodEvicted"),
    "success": ("success", "succeed", "CompleteJob"),
    "time limits": ("activeDeadlineSeconds",),
    "cleanup": ("cleanPodPolicy", "ttlSecondsAfterFinished"),
}
"""Words of the sentences on each topic, in the order of the check; the other sentences are about
failures.
"""
_AFTER_ROLE = (": ", ", ", " ")
"""What separates a role's name from its sentence."""


def topics_of(sentences: Iterable[str]) -> list[str]:
    """Return the topics of sentences, failures first and torchrun last."""
    topics = {_topic(sentence) for sentence in sentences}
    return [topic for topic in (_FAILURES, *[*_TOPICS][1:], "torchrun") if topic in topics]


def differing_sentences(
    before: Sequence[str], after: Sequence[str], old_roles: Sequence[str], new_roles: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the sentences that only one side has, without the names of roles where all roles
    share the sentence.
    """
    old = _without_roles(before, old_roles)
    new = _without_roles(after, new_roles)
    return [text for text in old if text not in new], [text for text in new if text not in old]


def rows_by_topic(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the sentences of both sides in pairs about the same topic; "" if a side has fewer of
    them.
    """
    for topic in topics_of((*before, *after)):
        sides = [[text for text in side if _topic(text) == topic] for side in (before, after)]
        yield from zip_longest(*sides, fillvalue="")


def _topic(sentence: str) -> str:
    """Return the topic of a sentence about an ending; without a known word it is a failure."""
    if sentence.startswith(_TOPICS["torchrun"]):
        return "torchrun"
    return next(
        (topic for topic, words in _TOPICS.items() if any(word in sentence for word in words)),
        _FAILURES,
    )


def _without_roles(sentences: Sequence[str], roles: Sequence[str]) -> list[str]:
    """Return the sentences once each; one that every role has loses the role's name."""
    by_text: dict[str, set[str]] = {}
    for sentence in sentences:
        role, text = _split_role(sentence, roles)
        by_text.setdefault(text, set()).add(role)
    shortened = []
    for sentence in sentences:
        _, text = _split_role(sentence, roles)
        shortened.append(text if by_text[text] >= set(roles) else sentence)
    return list(dict.fromkeys(shortened))


def _split_role(sentence: str, roles: Sequence[str]) -> tuple[str, str]:
    """Return the role that a sentence is about, or "", and the rest of the sentence."""
    for role in roles:
        for separator in _AFTER_ROLE:
            prefix = role + separator
            if role and sentence.lower().startswith(prefix.lower()):
                return role, sentence[len(prefix) :]
    return "", sentence

"""A text that is read again after each edit has the documents of a new text; only changed documents are parsed."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ptcompile.kubernetes.versions import Versions
from ptcompile.source import documents
from ptcompile.source.documents import Source
from ptcompile.source.kept import KeptDocuments
from tests.conftest import thinned
from tests.editing import Editor, examples, goldens

_EDITS = 40
_KUBECTL = Versions().kubernetes


def _facts(source: Source) -> list[Any]:
    """Everything of each document that depends on where it is in the text."""
    facts = [(document.data, document.index, document.first_line, document.texts) for document in source.documents]
    positions = [list(document.leaf_spans()) for document in source.documents]
    return [facts, positions, source.problems, source.text]


@pytest.mark.parametrize("seed", thinned(range(64), 8))
def test_every_edit_gives_the_documents_of_the_whole_text(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - the same edits each time
    editor = Editor(random, goldens() if seed % 12 == 0 else examples())
    kept = KeptDocuments()
    for _ in range(_EDITS):
        again = kept.read(editor.text, "a.yaml", _KUBECTL)
        assert _facts(again) == _facts(documents.read(editor.text, "a.yaml", _KUBECTL))
        editor.edit()


def test_only_a_changed_document_is_parsed() -> None:
    kept = KeptDocuments()
    first = kept.read("a: 1\n---\nb: 2\n---\nb: 2\n", "a.yaml", _KUBECTL)
    second = kept.read("# moved\na: 3\n---\nb: 2\n---\nb: 2\n", "a.yaml", _KUBECTL)
    is_kept = [before.data is now.data for before, now in zip(first.documents, second.documents, strict=True)]
    assert is_kept == [False, True, True]


def test_documents_of_the_version_before_the_last_are_forgotten() -> None:
    kept = KeptDocuments()
    first = kept.read("a: 1\n", "a.yaml", _KUBECTL)
    kept.read("a: 2\n", "a.yaml", _KUBECTL)
    again = kept.read("a: 1\n", "a.yaml", _KUBECTL)
    assert again.documents[0].data is not first.documents[0].data


def test_positions_and_secrets_of_a_kept_document_are_not_found_again() -> None:
    kept = KeptDocuments()
    first = kept.read("a: 1\n---\nb: 2\n", "a.yaml", _KUBECTL).documents[1]
    root, first.secrets = first.positions(), object()
    second = kept.read("a: 13\n---\nb: 2\n", "a.yaml", _KUBECTL).documents[1]
    assert second.positions() is root
    assert second.secrets is first.secrets

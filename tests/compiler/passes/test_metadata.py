"""The pass `metadata`: the profile's labels and annotations on objects and pods; the user's take precedence."""

from __future__ import annotations

from ptcompile.compiler.passes.metadata import metadata
from tests import making

CLUSTER = making.profile(
    {"defaults": {"labels": {"team": "ml", "tier": "gold"}, "annotations": {"note": "platform"}}}
)


def test_objects_and_pods_get_the_profile_s_metadata_and_keep_theirs() -> None:
    template = making.template(labels={"team": "mine", "app": "x"}, annotations={"a": "b"})
    after = metadata(
        making.job(template, labels={"tier": "own"}, annotations={"note": "own"}),
        making.context(CLUSTER),
    )
    assert after.labels == {"team": "ml", "tier": "own"}
    assert after.annotations == {"note": "own"}
    assert after.roles[0].template.labels == {"team": "mine", "tier": "gold", "app": "x"}
    assert after.roles[0].template.annotations == {"note": "platform", "a": "b"}


def test_running_twice_changes_nothing() -> None:
    once = metadata(making.job(making.template(labels={"z": "1"})), making.context(CLUSTER))
    assert metadata(once, making.context(CLUSTER)) == once


def test_an_empty_profile_changes_nothing() -> None:
    before = making.job(making.template(labels={"z": "1"}), labels={"y": "2"})
    assert metadata(before, making.context()) == before


def test_either_labels_or_annotations_of_the_profile_are_enough() -> None:
    for word in ("labels", "annotations"):
        cluster = making.profile({"defaults": {word: {"a": "b"}}})
        after = metadata(making.job(), making.context(cluster))
        assert getattr(after, word) == getattr(after.roles[0].template, word) == {"a": "b"}

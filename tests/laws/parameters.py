"""What each verb that reads sources can be given, and the reasons for what it cannot be given."""

from __future__ import annotations

KEYWORDS = ("extensions", "schemas", "beside", "overrides", "name", "filename", "cluster")
_ALONE = "a spec refers to nothing but the profile, which decides about it"
_OWN_KINDS = "it writes and explains only kinds that it knows"
_AS_WRITTEN = "it judges a text as it is written; what a change does is asked of compile"
_MANIFESTS = "overrides are changes of specs, and it reads manifests"
_MODELED = "it looks at the pods of kinds that are modeled, which no schema adds to"
_WITH_STATE = "`state` has the other objects of the cluster"
_SIDES = "an object that decides about both sides belongs to both"
_NEEDS = "it lists what the jobs refer to, wherever that is"
WITHOUT: dict[str, dict[str, str]] = {
    "compile": {"schemas": _OWN_KINDS, "beside": _ALONE},
    "lint": {"overrides": _AS_WRITTEN, "name": _AS_WRITTEN},
    "fix": {"overrides": _AS_WRITTEN, "name": _AS_WRITTEN},
    "simulate": {"schemas": _MODELED},
    "explain": {"schemas": _OWN_KINDS, "beside": _ALONE},
    "diff of the old side": {
        "beside": _SIDES,
        "overrides": "they are the change of the new side",
        "name": "it is the change of the new side",
        "filename": "`filenames` has both",
        "cluster": "`from_cluster` is that of the old side",
    },
    "diff of the new side": {
        "beside": _SIDES,
        "filename": "`filenames` has both",
        "cluster": "`to_cluster` is that of the new side",
    },
    "upgrade": {"cluster": "`to_cluster` is that after the upgrade"},
    "import": {
        "beside": "the objects that a job needs are imported with it",
        "overrides": _MANIFESTS,
        "name": _MANIFESTS,
    },
    "convert": {"overrides": _MANIFESTS, "name": _MANIFESTS},
    "admit": {"schemas": _MODELED, "beside": _WITH_STATE},
    "requires": {"schemas": _MODELED, "beside": _NEEDS},
    "platform": {"schemas": _MODELED, "beside": _NEEDS},
    "rehearse": {"schemas": _MODELED},
}
"""The parameters that a verb does not have, with the reason."""
OTHER_NAMES = {
    "diff of the old side": ("filename", "cluster"),
    "diff of the new side": ("filename", "cluster"),
    "upgrade": ("cluster",),
}
"""Parameters that a verb has under another name."""
NO_OPTION: dict[str, dict[str, str]] = {
    "lint": {"beside": "the other files of the call are beside each"},
    "fix": {"beside": "the other files of the call are beside each"},
    "convert": {"beside": "the other files of the call are beside each"},
    "upgrade": {"beside": "the other files of the call are beside each"},
}
"""What a command has no option for, although its function has a parameter."""


def takes(verb: str, keyword: str) -> bool:
    """Return whether a verb has a parameter, under this name or one that the table of signatures gives."""
    return keyword not in WITHOUT.get(verb, {}) or keyword in OTHER_NAMES.get(verb, ())

"""The operator overwrites a variable that the manifest sets.

PTC401 reserved-env: warning at run (differs), by kubelet.
Needs: env {ENV_KINDS}

What: a container sets a variable that its operator sets too, with another value.

Why: operators append their variables after the user's, and of two with the same name the last one
wins. The value in the manifest is never seen.

Example: pytorchjob.yaml with

      command: [python, train.py]
    - env:
    -   - {name: MASTER_PORT, value: "29500"}  # <--

Fix: remove the variable, and use the operator's field where there is one.

Source: training-operator 1.9, SetPodEnv; Volcano 1.16, pytorch, svc and env plugins; Kubernetes
1.36: the last of two variables counts.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps, nested_string
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at


def check(subject: Subject) -> Findings:
    # operators without `env_of` reject such a variable, replace it in place, or keep it
    operator = subject.record.additions.env_of
    if not operator or not any(container.spec.get("env") for container in subject.containers):
        return

    from ptcompile.kinds.pods import env_entry

    values = {entry.path: entry.value for entry in subject.variables}
    for path, written, view, _ in subject.views():
        entries = nested_maps(written, "env")
        added = {nested_string(entry, "name"): entry for entry in view.env[len(entries) :]}
        for i, entry in enumerate(entries):
            name = nested_string(entry, "name")
            entry_path = (*path, "env", i)
            user_value = values.get(entry_path)
            is_other = (
                name in added
                and env_entry(entry) != env_entry(added[name])
                and user_value != added[name].get("value", "")
            )
            # Python reads any text but 0 alike
            has_same_effect = name == "PYTHONUNBUFFERED" and user_value not in (None, "", "0")
            if is_other and not has_same_effect:
                is_referenced = any(
                    f"$({name})" in nested_string(item, "value") for item in entries
                )
                value = f"{added[name].get('value')!r} " if "value" in added[name] else ""
                yield found_at(
                    entry_path,
                    f"{operator} sets {name} itself, and its value {value}wins",
                    f"remove {name}",
                    fix_removing(f"remove {name}", entry_path, safe=not is_referenced),
                )

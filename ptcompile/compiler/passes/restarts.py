"""Restarts: the rules by which the kubelet restarts the training container in its pod.

A container with rules needs its own restartPolicy; it is the pod's, so that any other exit status
has the same result as without rules (Kubernetes 1.35, docs/facts/gangs.md#restarts-in-place). The
user's values win.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, RestartRule, Role


def restarts(job: Job, context: Context) -> Job:
    """Add the rules to the main container of each training role."""
    rule = job.run_policy.restart_in_place
    if rule is None:
        return job
    roles = tuple(_with_rules(role, rule) if role.trains else role for role in job.roles)
    return job._replace(roles=roles)


def _with_rules(role: Role, rule: RestartRule) -> Role:
    main = role.template.main
    codes = {"operator": "In", "values": list(rule.exit_codes)}
    rules = {
        "restartPolicy": role.restart_policy or "Never",
        "restartPolicyRules": [{"action": rule.action, "exitCodes": codes}],
    }
    return role._replace(
        template=role.template.with_main(main._replace(extra={**rules, **main.extra}))
    )

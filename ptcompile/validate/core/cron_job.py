"""CronJob (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.cron_schedule import why_not_schedule, why_not_time_zone
from ptcompile.validate.core.job import check_job_counts, check_restart_policy
from ptcompile.validate.core.replicas import check_counts, check_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_POLICIES: Final = ("Allow", "Forbid", "Replace")


def check_cron_job(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A CronJob without its metadata."""
    spec = f.mapping(manifest.get("spec"))
    schedule, zone, policy = spec.get("schedule"), spec.get("timeZone"), spec.get("concurrencyPolicy")
    if schedule is None or schedule == "":
        f.required(found, ("spec", "schedule"), help='write a cron schedule such as "0 3 * * *"')
    elif type(schedule) is str:
        if "TZ" in schedule:
            why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            f.invalid(found, ("spec", "schedule"), schedule, why, "set timeZone")
        elif why_schedule := why_not_schedule(schedule):
            help = 'write five fields: minute, hour, day of month, month, day of week: "0 3 * * *"'
            f.invalid(found, ("spec", "schedule"), schedule, why_schedule, help)
    if type(zone) is str and (why_zone := why_not_time_zone(zone)):
        f.invalid(found, ("spec", "timeZone"), zone, why_zone, "use an IANA name such as Europe/Berlin")
    if policy:
        f.check_choice(found, ("spec", "concurrencyPolicy"), policy, _POLICIES)
    counts = ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    check_counts(spec, ("spec",), found, *counts)
    _check_job(f.mapping(f.mapping(spec.get("jobTemplate")).get("spec")), context, found)


def _check_job(job: dict[str, Any], context: ApiServer, found: f.Found) -> None:
    path = ("spec", "jobTemplate", "spec")
    check_job_counts(job, path, context, found)
    if job.get("manualSelector"):
        here = (*path, "manualSelector")
        f.unsupported(found, here, job["manualSelector"], ("false", "nil"), "remove it")
    if type(job.get("selector")) is dict:
        f.invalid(found, (*path, "selector"), job["selector"], "`selector` will be auto-generated", "remove it")
    check_template(job.get("template"), (*path, "template"), context, found)
    check_restart_policy(f.mapping(job.get("template")).get("spec"), (*path, "template", "spec"), found)

"""CronJob and cron schedules."""

from __future__ import annotations

from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.validation.apps import check_counts, check_template
from ptcompile.apiserver.validation.job import check_job_counts, check_restart_policy
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, nested_map

SCHEDULE_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of month", 1, 31, {}),
    (
        "month",
        1,
        12,
        {
            name: number
            for number, name in enumerate(
                ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
            )
        },
    ),
    (
        "day of week",
        0,
        6,
        {name: number for number, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])},
    ),
)
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_EVERY_PREFIX = "@every "
_DURATION_UNITS = ("ns", "us", "µs", "μs", "ms", "s", "m", "h")

_ZONES = load_table("apiserver/validation/zones.json")
_ZONE_AREAS = frozenset(_ZONES["areas"])
_ZONES_WITHOUT_AREA = frozenset(_ZONES["without_area"])
"""IANA time zones without an area."""


def why_not_time_zone(name: str) -> str | None:
    """Return why the server rejects a time zone name, or None. Only the area is checked: the cities are in the server's
    own data.
    """
    if name == "":
        return "timeZone must be nil or non-empty string"
    if name.lower() == "local":
        return "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
    area, slash, rest = name.partition("/")
    if (slash and area in _ZONE_AREAS and rest) or name in _ZONES_WITHOUT_AREA:
        return None
    return f"unknown time zone {name}"


def why_not_schedule(text: str) -> str | None:
    """Return why a text is not a cron schedule, or None if it is one."""
    if text.startswith("@"):
        return _why_not_descriptor(text)
    fields = text.split()
    if len(fields) != len(SCHEDULE_FIELDS):
        return f"expected exactly {len(SCHEDULE_FIELDS)} fields, found {len(fields)}: [{' '.join(fields)}]"
    for field, (name, low, high, numbers_by_name) in zip(fields, SCHEDULE_FIELDS, strict=True):
        for part in field.split(","):
            if part and (why := _why_not_range(part, low, high, numbers_by_name)):
                return f"{why} ({name})"
    return None


def _why_not_descriptor(text: str) -> str | None:
    if text in _DESCRIPTORS:
        return None
    if not text.startswith(_EVERY_PREFIX):
        return f"unrecognized descriptor: {text}"
    rest = text.removeprefix(_EVERY_PREFIX).lstrip("+-")
    if rest == "0":
        return None
    while rest:
        digits = len(rest) - len(rest.lstrip("0123456789."))
        amount = rest[:digits]
        rest = rest[digits:]
        unit = next((unit for unit in sorted(_DURATION_UNITS, key=len, reverse=True) if rest.startswith(unit)), None)
        if unit is None or amount.count(".") > 1 or not amount.strip("."):
            return f"failed to parse duration {text}"
        rest = rest.removeprefix(unit)
    return None if text != _EVERY_PREFIX else f"failed to parse duration {text}"


def _why_not_range(part: str, low: int, high: int, numbers_by_name: dict[str, int]) -> str | None:
    bounds, *steps = part.split("/")
    ends = bounds.split("-")
    if ends[0] in ("*", "?"):
        start = low
        end = high
    else:
        if len(ends) > 2:
            return f"too many hyphens: {part}"
        numbers = [numbers_by_name.get(end.lower(), _parse_number(end)) for end in ends]
        if None in numbers:
            return f"failed to parse int from {part}"
        start, end = (number for number in (numbers[0], numbers[-1]) if number is not None)
        if steps and len(ends) == 1:
            end = high
    if len(steps) > 1:
        return f"too many slashes: {part}"
    step = _parse_number(steps[0]) if steps else 1
    if step is None:
        return f"failed to parse int from {part}"
    if start < low:
        return f"beginning of range ({start}) below minimum ({low}): {part}"
    if end > high:
        return f"end of range ({end}) above maximum ({high}): {part}"
    if start > end:
        return f"beginning of range ({start}) beyond end of range ({end}): {part}"
    return "step of range should be a positive number: " + part if step == 0 else None


def _parse_number(text: str) -> int | None:
    return int(text) if text.removeprefix("+").isdigit() and text.isascii() else None


_CONCURRENCY_POLICIES = ("Allow", "Forbid", "Replace")


def check_cron_job(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a CronJob, except its metadata."""
    spec = nested_map(manifest, "spec")
    schedule = spec.get("schedule")
    zone = spec.get("timeZone")
    policy = spec.get("concurrencyPolicy")
    if schedule is None or schedule == "":
        problems.required(("spec", "schedule"), help='write a cron schedule such as "0 3 * * *"')
    elif type(schedule) is str:
        if "TZ" in schedule:
            why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            problems.invalid(("spec", "schedule"), schedule, why, "set timeZone")
        elif why_schedule := why_not_schedule(schedule):
            help = 'write five fields: minute, hour, day of month, month, day of week: "0 3 * * *"'
            problems.invalid(("spec", "schedule"), schedule, why_schedule, help)
    problems.check_text(("spec", "timeZone"), zone, why_not_time_zone, "use an IANA name such as Europe/Berlin")
    if policy:
        problems.check_choice(("spec", "concurrencyPolicy"), policy, _CONCURRENCY_POLICIES)
    count_fields = ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    check_counts(spec, ("spec",), problems, *count_fields)
    _check_job(nested_map(spec, "jobTemplate", "spec"), context, problems)


def _check_job(job: Json, context: ApiServer, problems: FieldErrors) -> None:
    path = ("spec", "jobTemplate", "spec")
    check_job_counts(job, path, context, problems)
    if job.get("manualSelector"):
        manual_selector_path = (*path, "manualSelector")
        problems.unsupported(manual_selector_path, job["manualSelector"], ("false", "nil"), "remove it")
    if type(job.get("selector")) is dict:
        problems.invalid((*path, "selector"), job["selector"], "`selector` will be auto-generated", "remove it")
    check_template(job.get("template"), (*path, "template"), context, problems)
    check_restart_policy(nested_map(job, "template").get("spec"), (*path, "template", "spec"), problems)

"""CronJob and cron schedules."""

from __future__ import annotations

from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.job import check_job_counts, check_restart_policy
from ptcompile.apiserver.validation.pod import check_template

_TABLE = load_table("apiserver/validation/schedules.json")
SCHEDULE_FIELDS: list[tuple[str, int, int, dict[str, int]]] = [
    (row["name"], row["low"], row["high"], row.get("names", {})) for row in _TABLE["fields"]
]
"""The fields of a schedule: name, lowest and highest number, and the numbers of names."""
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_EVERY_PREFIX = "@every "
_DURATION_UNITS = ("ns", "us", "µs", "μs", "ms", "s", "m", "h")
"""The longest ones first."""

_ZONES = load_table("apiserver/validation/zones.json")
_ZONE_AREAS = frozenset(_ZONES["areas"])
_ZONES_WITHOUT_AREA = frozenset(_ZONES["without_area"])
"""IANA time zones without an area."""


def why_not_time_zone(name: str) -> str | None:
    """Return why the server rejects a time zone name, or None. Only the area is checked: the cities
    are in the server's own data.
    """
    if name == "":
        return "timeZone must be nil or non-empty string"
    if name.lower() == "local":
        return (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )

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
        return (
            f"expected exactly {len(SCHEDULE_FIELDS)} fields, found {len(fields)}: "
            f"[{' '.join(fields)}]"
        )

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
        unit = next((unit for unit in _DURATION_UNITS if rest.startswith(unit)), None)
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
    return int(text) if is_short_number(text.removeprefix("+"), 19) else None


_CONCURRENCY_POLICIES = ("Allow", "Forbid", "Replace")


def check_cron_job(cron_job: FieldValue) -> None:
    """Check a CronJob, except its metadata."""
    spec = cron_job["spec"]
    schedule = spec["schedule"]
    if schedule.is_empty:
        schedule.required(help='write a cron schedule such as "0 3 * * *"')
    elif schedule.is_text and "TZ" in schedule.value:
        why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        schedule.invalid(why, "set timeZone")
    else:
        help = 'write five fields: minute, hour, day of month, month, day of week: "0 3 * * *"'
        schedule.check_text(why_not_schedule, help)

    spec["timeZone"].check_text(why_not_time_zone, "use an IANA name such as Europe/Berlin")
    spec["concurrencyPolicy"].check_optional_choice(_CONCURRENCY_POLICIES)
    spec.check_not_negative(
        "startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"
    )
    _check_job(spec["jobTemplate"]["spec"])


def _check_job(job: FieldValue) -> None:
    manual = job["manualSelector"]
    pod = job["template"]["spec"]
    check_job_counts(job)
    if manual.value:
        manual.unsupported(("false", "nil"), "remove it")
    if job["selector"].is_mapping:
        job["selector"].invalid("`selector` will be auto-generated", "remove it")
    check_template(job["template"])
    check_restart_policy(pod)

"""The names that are derived from a job's on this target, for `common.budget`."""

from ptcompile.job.model import SUBDOMAIN, Derived

_VOLCANO = "facts/volcano, Volcano 1.16"
_UID = "123e4567-e89b-12d3-a456-426614174000"

DERIVED = (
    Derived("the last pod's host name", "{job}-{group}-{last}", _VOLCANO),
    Derived("the svc plugin's volume", "{job}-svc", _VOLCANO),
    Derived("the Service and the label volcano.sh/job-name", "{job}", _VOLCANO),
    Derived("the PodGroup", f"{{job}}-{_UID}", _VOLCANO, SUBDOMAIN),
)

"""The names that are derived from a job's on this target, for `common.budget`."""

from ptcompile.job.model import Derived

DERIVED = (Derived("the pod's host name", "{job}", "facts/kubernetes, Kubernetes 1.36"),)

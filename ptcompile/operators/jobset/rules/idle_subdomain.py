"""A subdomain is set, but host names are disabled.

PTC838 idle-subdomain: warning at style, by jobset.
Needs: subdomain

What: network.subdomain beside enableDNSHostnames: false.

Why: without host names JobSet makes no Service and gives the pods no subdomain.

Example: one_node_jobset.yaml with

      spec:
        network:
    -     enableDNSHostnames: false
    +     enableDNSHostnames: true
          subdomain: ranks  # <--
        replicatedJobs:

Fix: remove one of the two.

Source: JobSet 0.12.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at


def check(subject: Subject) -> Findings:
    network = nested_map(subject.spec, "network")
    if network.get("enableDNSHostnames") is False and network.get("subdomain"):
        path = ("spec", "network", "subdomain")
        yield found_at(
            path,
            "ignored, since enableDNSHostnames is false",
            "remove subdomain, or set enableDNSHostnames to true",
            fix_removing("remove subdomain", path),
        )

"""Thin modules for other orchestrators: `torchx`, `airflow` and `argo`, over `cluster`, which speaks to an API server.

Importing ptcompile imports none of them. Each needs its own library (the extras `torchx` and `airflow`); `cluster` uses
the client of the package `kubernetes` that its caller made, and reads no configuration.
"""

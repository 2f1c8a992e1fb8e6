"""Adapters for other orchestrators: `torchx`, `airflow` and `argo`, built on `cluster`, which calls
an API server.

Importing ptcompile imports none of them. Each needs its own library (the extras `torchx` and
`airflow`); `cluster` uses the caller's client of the package `kubernetes` and reads no
configuration.
"""

"""Reasons for every line of a manifest: `ptcompile.explain`.

`provenance` is the pure core: it finds the `Cause` of each value in the manifests. `explanation`
adds positions and the steps of the passes; `rendering` writes it as text and JSON.
"""

"""Why every line of a manifest is there: `ptcompile.explain`.

`provenance` is the pure heart: for each value of the manifests its `Cause`. `explanation` adds positions and the steps
of the passes; `rendering` has what people and programs read.
"""

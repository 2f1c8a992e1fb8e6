"""The compiler: one TrainingJob document to manifests, and the checks of a spec on the way."""

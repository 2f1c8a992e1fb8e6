"""The compiler: one TrainingJob document to manifests, and what is asked of a spec on the way."""

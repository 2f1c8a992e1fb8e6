"""The recorder of what operators do with manifests, beside its recordings or those of its name."""

"""Manifests back to specs: read, compiled again, compared, and patched until nothing differs or it is said what does."""

"""Manifests back to specs: read, compiled again, compared, and patched until nothing differs, or the rest told."""

"""Code shared by every package and not part of the public API."""

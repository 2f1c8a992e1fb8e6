"""Rules for Volcano Jobs."""

"""Defaults: what the server writes for fields that a file leaves out, kind by kind."""

"""Rules for Services."""

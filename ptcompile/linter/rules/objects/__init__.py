"""Rules for objects of any kind, also those without pods."""

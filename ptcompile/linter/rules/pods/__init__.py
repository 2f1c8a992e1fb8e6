"""Rules for the pods of any kind."""

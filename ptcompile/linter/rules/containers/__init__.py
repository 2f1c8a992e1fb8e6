"""Rules for containers of any kind."""

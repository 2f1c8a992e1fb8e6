"""Rules for what Volcano's scheduler reads from objects of any kind."""

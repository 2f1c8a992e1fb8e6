"""Rules for what Kueue reads from objects of any kind."""

"""Laws that hold between ways to ask for the same thing."""

"""Shell scripts: what they run, with which arguments, and what makes them fail. Nothing is
executed.
"""

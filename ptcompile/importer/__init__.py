"""Import: turn a manifest into a spec, compile it again, compare, and patch until nothing differs;
report what remains.
"""

"""Rules for the folders to which a training container writes, wherever a kind has its command
line.
"""

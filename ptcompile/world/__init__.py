"""The world that every verb asks: the objects of a stream, and each one's pods as a cluster
would make them, lazily.
"""

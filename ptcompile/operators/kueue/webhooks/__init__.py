"""Kueue's webhooks over the kinds of other projects: what they reject at creation and on
updates.
"""

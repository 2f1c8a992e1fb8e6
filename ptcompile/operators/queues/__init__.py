"""Queues and gangs, as every operator meets them."""

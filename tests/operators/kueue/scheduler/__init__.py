"""Tests of the model of Kueue's scheduler."""

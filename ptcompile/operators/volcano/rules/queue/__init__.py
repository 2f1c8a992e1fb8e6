"""Rules for Volcano's queues."""

"""KAI Scheduler: queues and gangs by labels and annotations."""

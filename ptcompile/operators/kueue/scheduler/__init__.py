"""A model of Kueue's scheduler: which queued jobs it admits, where, and which it preempts for them.

Source: Kueue 0.19. MultiKueue, provisioning, dynamic resources and admission fair sharing are not
modeled.
"""

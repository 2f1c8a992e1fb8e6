[ "$NNODES" -eq 2 ] && torchrun --two train.py

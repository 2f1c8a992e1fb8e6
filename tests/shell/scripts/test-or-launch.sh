[ "$NNODES" -eq 1 ] || torchrun --more train.py

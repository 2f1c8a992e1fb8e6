R=$(printf "%d" "$RANK"); torchrun --node_rank=$R --x=$(printf %s-%02d n 3) train.py

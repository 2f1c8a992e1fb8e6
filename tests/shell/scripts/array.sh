ARGS=(--nnodes "$NNODES" --nproc_per_node 8)
torchrun "${ARGS[@]}" train.py

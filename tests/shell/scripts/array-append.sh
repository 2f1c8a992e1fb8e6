ARGS=(--nnodes=2)
ARGS+=(--nproc_per_node=8)
ARGS+=("train.py" --name "a b")
torchrun "${ARGS[@]}"

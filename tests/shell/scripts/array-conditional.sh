ARGS=(--nnodes=2)
if [ "$DEBUG" = "1" ]; then ARGS+=(--tee 3); fi
torchrun "${ARGS[@]}" train.py

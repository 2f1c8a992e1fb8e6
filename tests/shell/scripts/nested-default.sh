torchrun --a=${UNSET:-${NNODES:-4}} --b=${UNSET:-$((NNODES * 2))} train.py

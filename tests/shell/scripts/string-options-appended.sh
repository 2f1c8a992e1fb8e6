OPTS="--nnodes=2"
OPTS+=" --nproc_per_node=8"
OPTS="$OPTS --max_restarts=3"
torchrun ${OPTS} train.py

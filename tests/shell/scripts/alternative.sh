torchrun ${NNODES:+--nnodes=$NNODES} ${EMPTY:+--never} train.py

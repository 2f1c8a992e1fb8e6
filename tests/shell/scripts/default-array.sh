ARGS=${ARGS:---nnodes=2}
torchrun $ARGS ${EXTRA:+--extra} train.py

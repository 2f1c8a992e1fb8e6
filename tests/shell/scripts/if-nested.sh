if [ "$NNODES" = 2 ]; then
  if [ -z "$MISSING" ]; then
    torchrun --nnodes=$NNODES train.py
  fi
fi

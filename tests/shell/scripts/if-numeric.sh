if [ "$NNODES" -gt 1 ]; then
  torchrun --nnodes=$NNODES train.py
else
  python train.py
fi

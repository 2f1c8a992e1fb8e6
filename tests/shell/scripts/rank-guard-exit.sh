if [ "$RANK" -ge "$NNODES" ]; then
  echo "spare node"
  exit 0
fi
torchrun train.py

if [[ "$NNODES" == "2" && "$RANK" != "0" ]]; then
  torchrun --worker train.py
elif [[ -z "$EMPTY" || $RANK -eq 0 ]]; then
  torchrun --other train.py
fi

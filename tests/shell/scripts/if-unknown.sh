if [ -n "$RESUME" ]; then
  EXTRA="--resume $RESUME"
fi
torchrun train.py $EXTRA

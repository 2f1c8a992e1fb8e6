set -e
if [ "$RANK" = 1 ]; then
  torchrun train.py
fi
echo ok

set -e
OUT=$(torchrun train.py)
echo "$OUT"

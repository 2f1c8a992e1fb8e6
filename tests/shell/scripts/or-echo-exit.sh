torchrun train.py || { echo "failed" >&2; exit 3; }
echo finished

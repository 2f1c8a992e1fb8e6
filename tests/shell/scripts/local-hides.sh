set -e
f() { local out=$(torchrun train.py); echo "$out"; }
f

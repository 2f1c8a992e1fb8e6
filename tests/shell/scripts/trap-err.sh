set -eE
trap 'echo failed on line $LINENO' ERR
torchrun train.py
echo ok

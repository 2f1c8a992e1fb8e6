set -e
set +e
torchrun train.py
echo ok

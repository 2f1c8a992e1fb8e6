set -e
torchrun train.py && echo ok
echo done

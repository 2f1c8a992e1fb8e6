set -e
torchrun train.py | cat
echo done

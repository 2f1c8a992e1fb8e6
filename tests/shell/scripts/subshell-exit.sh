(torchrun train.py || exit 2) || exit 3
echo ok

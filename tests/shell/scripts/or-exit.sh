torchrun train.py || exit 1
echo finished

torchrun train.py || exit 0
echo finished

torchrun train.py > out.log 2> err.log < /dev/null

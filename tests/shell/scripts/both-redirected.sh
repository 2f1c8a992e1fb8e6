torchrun train.py &> all.log

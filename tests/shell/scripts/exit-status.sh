torchrun train.py
exit $?

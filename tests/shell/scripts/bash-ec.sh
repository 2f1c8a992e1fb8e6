bash -ec 'torchrun train.py; echo ok'

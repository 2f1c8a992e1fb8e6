touch x.py y.py
torchrun *.py

exec > >(cat) 2>&1
torchrun train.py

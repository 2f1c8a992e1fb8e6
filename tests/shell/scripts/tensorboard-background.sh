tensorboard --logdir logs --port 6006 &
torchrun train.py

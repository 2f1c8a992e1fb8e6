H=$HOSTNAME
torchrun --a=${H:4} --b=${H:4:6} --c=${H: -1} --d=${H:(-3):2} --e=${H:0:-2} train.py

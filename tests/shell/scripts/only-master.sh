if [ $RANK -eq 0 ]; then python prepare.py; fi
torchrun train.py

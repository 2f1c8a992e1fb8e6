while ! getent hosts $MASTER_ADDR; do sleep 2; done
torchrun --master_addr=$MASTER_ADDR train.py

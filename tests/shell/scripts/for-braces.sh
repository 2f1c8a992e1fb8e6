for i in {0..2}; do torchrun --i=$i train.py; done

torchrun --first train.py
if [ ; then

LOCAL=1
export SHARED=2
bash -c 'torchrun --local=$LOCAL --shared=$SHARED train.py'

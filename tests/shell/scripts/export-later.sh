GPUS=8
export GPUS
bash -c 'torchrun --nproc_per_node=$GPUS train.py'

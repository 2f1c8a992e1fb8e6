if [ "$JOB_COMPLETION_INDEX" = "0" ]; then
  tensorboard --logdir logs &
fi
torchrun --node_rank=$JOB_COMPLETION_INDEX train.py

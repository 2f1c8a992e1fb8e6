declare -a opts=(
  --nnodes=2        # nodes
  --nproc_per_node=8
  # --max_restarts=3
)
torchrun ${opts[@]} train.py

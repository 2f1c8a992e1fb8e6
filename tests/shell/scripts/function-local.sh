start() {
  local nodes=$1 procs=${2:-8}
  torchrun --nnodes=$nodes --nproc_per_node=$procs train.py
}
start 4

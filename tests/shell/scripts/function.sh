run() {
  torchrun --nnodes="$1" "${@:2}"
}
run 2 train.py

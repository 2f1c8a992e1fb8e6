start() {
  local mode=$1; shift
  [ "$mode" = train ] && torchrun "$@"
}
start train --nnodes=2 a.py

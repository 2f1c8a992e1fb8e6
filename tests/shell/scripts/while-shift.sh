set -- --nnodes 2 t.py
ARGS=()
while [ $# -gt 1 ]; do ARGS+=("$1"); shift; done
torchrun "${ARGS[@]}" "$1"

cat > env.sh <<EOF
export NPROC=8
EOF
source env.sh
torchrun --nproc_per_node=$NPROC train.py

bash <<EOF
torchrun --nnodes=$NNODES train.py
EOF

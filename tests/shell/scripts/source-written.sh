cat > env.sh <<'EOF'
export NNODES=5
export NCCL_DEBUG=INFO
EOF
source ./env.sh
torchrun --nnodes=$NNODES train.py

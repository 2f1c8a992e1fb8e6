cat > config.yaml <<EOF
nodes: $NNODES
EOF
torchrun train.py --config config.yaml

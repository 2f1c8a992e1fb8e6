cat <<'EOF' > run.sh
torchrun --nnodes=$NNODES train.py
EOF
bash run.sh

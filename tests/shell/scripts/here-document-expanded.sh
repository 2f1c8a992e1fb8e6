cat > run.sh <<EOF
torchrun --nnodes=$NNODES --rank=\$RANK train.py
EOF
bash run.sh

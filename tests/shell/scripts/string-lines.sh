DISTRIBUTED_ARGS="
    --nproc_per_node 8 \
    --nnodes $NNODES \
    --node_rank $RANK
"
torchrun $DISTRIBUTED_ARGS pretrain.py \
    --tensor-model-parallel-size 2

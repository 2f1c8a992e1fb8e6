torchrun --nproc_per_node=2 train.py --heads=32 \ # 7b: 32

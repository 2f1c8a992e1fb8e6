mpirun -np $((NNODES*8)) -H $HOST_LIST python train.py

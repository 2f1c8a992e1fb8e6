LAUNCHER="accelerate launch --num_machines $NNODES"
$LAUNCHER train.py

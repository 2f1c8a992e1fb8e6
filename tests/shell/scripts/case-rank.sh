case $RANK in 0) A=--first ;; [1-9]*) A=--other ;; esac
torchrun $A train.py

for h in ${HOST_LIST//,/ }; do echo "$h slots=8"; done > hostfile
deepspeed --hostfile hostfile train.py

torchrun --name=${HOSTNAME/job/run} --all=${HOST_LIST//,/ } --up=${ROLE_NAME^^} --len=${#HOSTNAME} --part=${HOSTNAME:0:3} train.py

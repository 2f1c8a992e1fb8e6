cat <<-EOF > run.sh
	torchrun --tab train.py
	EOF
bash ./run.sh

cat > run.sh <<'EOF'
#!/bin/bash
set -e
torchrun --first=$1 train.py
echo ok
EOF
chmod +x run.sh
./run.sh one

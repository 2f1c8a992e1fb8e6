python - <<'EOF'
print("torchrun no.py")
EOF
torchrun yes.py

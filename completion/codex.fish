# Completes codex command lines in fish. The program prints the script, so that both have the same version.
command -q codex; and codex completion fish | source

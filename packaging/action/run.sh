#!/bin/sh
# Runs the prompt and sets the output `final-message`. Values arrive in variables, so that no text becomes a command.
set -eu

dir=$(mktemp -d "$RUNNER_TEMP/codex-run-XXXXXX")
message=$dir/message
: >"$message"
set -- exec --json --ephemeral --skip-git-repo-check --sandbox "$CODEX_ACTION_SANDBOX" --output-last-message "$message"
[ -z "$CODEX_ACTION_MODEL" ] || set -- "$@" --model "$CODEX_ACTION_MODEL"
prompt=$CODEX_ACTION_PROMPT program=$CODEX_ACTION_PROGRAM
unset CODEX_ACTION_PROMPT CODEX_ACTION_PROGRAM CODEX_ACTION_SANDBOX CODEX_ACTION_MODEL
# The log of the step must not be read as commands of the runner (`::set-env`).
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
status=0
# Nor may a command of the model write to the files by which later steps get variables.
printf '%s' "$prompt" | env -u GITHUB_OUTPUT -u GITHUB_ENV -u GITHUB_PATH -u GITHUB_STATE -u GITHUB_STEP_SUMMARY \
	"$program" "$@" - || status=$?
echo "::$token::"
{
	echo "final-message<<$token"
	cat "$message"
	echo
	echo "$token"
} >>"$GITHUB_OUTPUT"
exit "$status"

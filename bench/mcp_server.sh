#!/bin/sh
# mcp_server.sh — an MCP server over stdio with one tool, `echo`, which only reads.
# DELAY: seconds before it answers initialize. LOG: a file for its process id. STUBBORN: it ignores signals and the end
# of its input, never answers a call, and has a child in a session of its own.
[ -z "$LOG" ] || echo $$ >>"$LOG"
if [ -n "$STUBBORN" ]; then
	trap '' TERM INT HUP
	setsid sleep 1000 &
	echo $! >>"$LOG"
fi
while read -r line; do
	id=${line#*\"id\":}
	id=${id%%[,\}]*}
	case $line in
	*'"initialize"'*)
		sleep "${DELAY:-0}"
		result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},'
		result=$result'"serverInfo":{"name":"sh","version":"1"}}'
		;;
	*'"tools/list"'*)
		result='{"tools":[{"name":"echo","inputSchema":{"type":"object"},'
		result=$result'"annotations":{"readOnlyHint":true}}]}'
		;;
	*'"tools/call"'*)
		[ -z "$STUBBORN" ] || continue
		result='{"content":[{"type":"text","text":"here"}]}'
		;;
	*'"id":'*)
		printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id"
		continue
		;;
	*) continue ;;
	esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
while [ -n "$STUBBORN" ]; do
	sleep 1000
done

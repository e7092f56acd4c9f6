#!/bin/sh
# Downloads the tarball of a release, compares its digest, and unpacks it; also that of codex-fleet, if its digest is
# given. Sets the output `program`.
set -eu

case $(uname -m) in
x86_64) cpu=x64 ;;
aarch64) cpu=arm64 ;;
*)
	echo "codex: there is no release for $(uname -m)" >&2
	exit 1
	;;
esac
server=${GITHUB_SERVER_URL:-https://github.com}
release=$server/$CODEX_ACTION_REPOSITORY/releases/download/v$CODEX_ACTION_VERSION
dir=$(mktemp -d "$RUNNER_TEMP/codex-XXXXXX")

install() { # URL SHA-256
	curl --fail --silent --show-error --location --retry 3 --max-filesize 50000000 --output "$dir/codex.tar.xz" "$1"
	echo "$2  $dir/codex.tar.xz" | sha256sum --check --status || {
		echo "codex: $1 does not have the SHA-256 $2" >&2
		exit 1
	}
	tar -xJf "$dir/codex.tar.xz" -C "$dir" --strip-components=1
}

install "${CODEX_ACTION_URL:-$release/codex-$CODEX_ACTION_VERSION-linux-$cpu.tar.xz}" "$CODEX_ACTION_SHA256"
if [ -n "${CODEX_ACTION_FLEET_SHA256:-}" ]; then
	fleet=$release/codex-fleet-$CODEX_ACTION_VERSION-linux-$cpu.tar.xz
	install "${CODEX_ACTION_FLEET_URL:-$fleet}" "$CODEX_ACTION_FLEET_SHA256"
fi
"$dir/bin/codex" --version
echo "program=$dir/bin/codex" >>"$GITHUB_OUTPUT"

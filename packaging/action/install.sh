#!/bin/sh
# Downloads the tarball of a release, compares its digest, and unpacks it. Sets the output `program`.
set -eu

case $(uname -m) in
x86_64) cpu=x64 ;;
aarch64) cpu=arm64 ;;
*)
	echo "codex: there is no release for $(uname -m)" >&2
	exit 1
	;;
esac
name=codex-$CODEX_ACTION_VERSION-linux-$cpu
server=${GITHUB_SERVER_URL:-https://github.com}
url=$server/$CODEX_ACTION_REPOSITORY/releases/download/v$CODEX_ACTION_VERSION/$name.tar.xz
url=${CODEX_ACTION_URL:-$url}
dir=$(mktemp -d "$RUNNER_TEMP/codex-XXXXXX")
curl --fail --silent --show-error --location --retry 3 --max-filesize 50000000 --output "$dir/codex.tar.xz" "$url"
echo "$CODEX_ACTION_SHA256  $dir/codex.tar.xz" | sha256sum --check --status || {
	echo "codex: $url does not have the SHA-256 $CODEX_ACTION_SHA256" >&2
	exit 1
}
tar -xJf "$dir/codex.tar.xz" -C "$dir" --strip-components=1
"$dir/bin/codex" --version
echo "program=$dir/bin/codex" >>"$GITHUB_OUTPUT"

#!/bin/bash
# Runs the tests against a real Secret Service: gnome-keyring on a bus, in a home and with a keyring of its own, of which
# nothing is left. Needs dbus-run-session, dbus-send and gnome-keyring-daemon.
set -euo pipefail
if [ "${1:-}" != inside ]; then
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	cd "$(dirname "$0")/.."
	go test -c -tags livekeyring -o "$dir/store.test" .
	HOME=$dir XDG_RUNTIME_DIR=$dir XDG_DATA_HOME=$dir/data TESTS=$dir/store.test \
		timeout 120 dbus-run-session -- bash testdata/live-keyring.sh inside
	exit
fi
"$TESTS" -test.run '^TestUnstartedKeyring$'
# One line end on stdin makes a login keyring with an empty password; no byte at all makes none.
echo | gnome-keyring-daemon --foreground --unlock --components=secrets >/dev/null 2>&1 &
daemon=$!
trap 'kill "$daemon"; wait "$daemon" || true' EXIT
for _ in $(seq 100); do
	dbus-send --session --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
		org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets 2>/dev/null | grep -q 'boolean true' && break
	sleep 0.1
done
"$TESTS" -test.run '^TestLiveKeyring$'

#!/usr/bin/env bash
# Runs the tests of the keyring against a real Secret Service: gnome-keyring on private buses, with folders that are
# thrown away. No display is needed, and nothing of the person who runs it is touched.
set -euo pipefail
cd "$(dirname "$0")/../.."
for tool in dbus-daemon dbus-run-session dbus-send gnome-keyring-daemon secret-tool; do
	command -v "$tool" > /dev/null || { echo "$tool is missing: apt-get install gnome-keyring dbus libsecret-tools" >&2; exit 1; }
done

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
mkdir -m 700 "$home/run" "$home/data"
go build -o "$home/mcpc" ./cmd/mcpc
go test -c -tags livekeyring -o "$home/store.test" ./internal/store
go test -c -tags livekeyring -o "$home/custody.test" ./internal/custody

# ran prints what a test said, without the bus's own grumbling, and fails unless that test ran and passed.
ran() {
	local name=$1 out
	shift
	out=$(timeout 120 "$@" -test.run "^$name\$" -test.v -test.count=1 2>&1 | grep -v '^dbus-daemon') || :
	printf '%s\n' "$out" | sed -n 's/^ *keyring_live_test.go:[0-9]*: /    /p'
	printf '%s\n' "$out" | grep -- '^--- PASS: '"$name" || { printf '%s\n' "$out" >&2; exit 1; }
}

# A bus on which the service could be started by whoever asks for it, and is not.
export XDG_RUNTIME_DIR=$home/run XDG_DATA_HOME=$home/data
ran TestUnstartedKeyring dbus-run-session -- "$home/store.test"

# The daemon is ours, in the foreground, ended by its pid: one that the bus starts could outlive the bus. The password
# is one line end; no byte at all would leave no login keyring.
# shellcheck disable=SC2016 # the inner shell expands it
ran TestLiveKeyring dbus-run-session -- bash -c '
	gnome-keyring-daemon --foreground --unlock --components=secrets <<< "" > "$XDG_RUNTIME_DIR/log" 2>&1 &
	daemon=$!
	for _ in $(seq 100); do
		dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
			string:org.freedesktop.secrets 2> /dev/null | grep -q "boolean true" && break
		sleep 0.05
	done
	code=0
	"$@" || code=$?
	kill "$daemon" 2> /dev/null || :
	wait "$daemon" 2> /dev/null || :
	exit "$code"' bash "$home/store.test"

# The commands themselves. These tests start their buses and daemons, and look for what a command left behind.
unset XDG_RUNTIME_DIR XDG_DATA_HOME
for name in TestKeyringStates TestKeyringLockedAgain TestSilentKeyringCostsItsTimeOnce TestKeyringAsSource; do
	ran "$name" "$home/custody.test" -mcpc "$home/mcpc"
done

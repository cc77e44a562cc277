#!/usr/bin/env bash
# The product in one transcript: a server is discovered, kept, reviewed and called; then it changes.
#
# Everything happens in a temporary folder with XDG folders of its own. Each command is printed before its output, and
# its exit code (and one word of its output) is checked, so the transcript cannot drift from the program: the first
# difference ends the run with a failure.
set -euo pipefail
cd "$(dirname "$0")/../.."

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
go build -trimpath -o "$home/bin/mcpc" ./cmd/mcpc
go build -trimpath -o "$home/bin/weather-station" ./testdata/demoserver

cd "$home"
export PATH=$home/bin:$PATH HOME=$home NO_COLOR=1 TZ=UTC
export XDG_CONFIG_HOME=$home/config XDG_DATA_HOME=$home/data XDG_STATE_HOME=$home/state
umask 022
mkdir -p config/mcpc
cat > config/mcpc/config.json <<'END'
{
  "servers": {
    "station": {"stdio": {"command": ["weather-station", "-state", "firmware"], "env": []}}
  }
}
END

# say prints a line between the steps.
say() { printf '# %s\n' "$@"; }

# show EXIT WORD COMMAND prints a shell command and runs it; it must end with EXIT and say WORD.
show() {
	local want=$1 word=$2 command=$3 got=0
	printf '$ %s\n' "$command"
	bash -c "$command" > out 2>&1 || got=$?
	sed "s|$home|~|g" out
	[ "$got" = 0 ] || printf '(exit %s)\n' "$got"
	echo
	[ "$got" = "$want" ] || { echo "demo: exit $got where $want was expected" >&2; exit 1; }
	grep -qF -- "$word" out || { echo "demo: the output does not say \"$word\"" >&2; exit 1; }
}

say 'A server is a name in a file. It gets the environment variables listed for it: here, none.'
show 0 '"env": []' 'cat config/mcpc/config.json'

say 'What does it offer? Looking keeps nothing.'
show 0 'sum' 'mcpc discover station'

say 'Evidence: every descriptor, byte for byte, in a file named by its digest.'
show 0 'new' 'mcpc snapshot take station'
show 0 'unchanged' 'mcpc snapshot take station'
show 0 'Second reading' 'mcpc snapshot show station sum'

say 'Evidence is not permission: nothing may be called yet.'
show 3 'authority.missing' 'mcpc call station sum a=1 b=2'

say 'Permission is a document that a person signs. A draft is a proposal, to be read.'
show 0 'Returns the sum' 'mcpc authority draft station --tool sum --by ana@example.com > sum.json'
show 0 'ana@example.com' 'cat sum.json'
show 0 'effective' 'mcpc authority check sum.json'

say 'Now this tool can be called, with these arguments, and nothing else can.'
show 0 'The sum of 1 and 2 is 3.' 'mcpc call station sum a=1 b=2 --authority sum.json'
show 3 'authority.tool_not_granted' 'mcpc call station greet name=Bo --authority sum.json'
show 2 'arguments.unknown' 'mcpc call station sum a=1 c=2 --authority sum.json'

say 'The vendor ships an update, and a tool says something else than what was reviewed.'
show 0 'updated' 'weather-station -state firmware -mutate'
show 3 'authority.descriptor_changed' 'mcpc call station sum a=1 b=2 --authority sum.json --recheck'

say 'What changed? A person reads it, and only then may sign again.'
pinned=$(grep -o 'sha256:[0-9a-f]\{12\}' sum.json) # the first twelve digits name it
show 1 'id_rsa' "mcpc snapshot diff ${pinned#sha256:} live:station --authority sum.json"

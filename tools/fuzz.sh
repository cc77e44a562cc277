#!/usr/bin/env bash
# Runs every fuzz target of the module in turn, each for the time given: tools/fuzz.sh 3s
# The targets are found, not listed, so a new one cannot be forgotten; finding none is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
budget=${1:?usage: tools/fuzz.sh DURATION}

ran=0
for package in $(go list ./...); do
	# Only packages that have a target are built for it: go test -list would build them all.
	folder=$(go list -f '{{.Dir}}' "$package")
	grep -qs '^func Fuzz' "$folder"/*_test.go || continue
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
		printf '%-24s %-44s ' "${package#mcpc/}" "$target"
		if ! out=$(go test -run '^$' -fuzz "^$target\$" -fuzztime "$budget" -fuzzminimizetime 2s "$package" 2>&1); then
			printf 'FAILED\n%s\n' "$out"
			exit 1
		fi
		grep -o 'execs: [0-9]*' <<<"$out" | tail -1 || echo 'execs: 0'
		ran=$((ran + 1))
	done
done
[ "$ran" -gt 0 ] || { echo 'no fuzz target found' >&2; exit 1; }
echo "$ran fuzz targets held for $budget each"

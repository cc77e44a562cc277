#!/usr/bin/env bash
# Runs every fuzz target of the module in turn, each for the time given: tools/fuzz.sh 3s
# The targets are found, not listed, so a new one cannot be forgotten; too few of them, or of the seeds of one, is a
# failure. With a second argument, keep, the smallest inputs that reached something new are put beside the tests, where
# every later run of the tests begins with them.
set -euo pipefail
cd "$(dirname "$0")/.."
budget=${1:?usage: tools/fuzz.sh DURATION [keep]}
keep=${2:-}
least_targets=12 least_seeds=20 kept_inputs=24 kept_bytes=2048

# keep_corpus PACKAGE FOLDER TARGET copies the smallest inputs that the go command has cached for a target.
keep_corpus() {
	local cached into
	cached=$(go env GOCACHE)/fuzz/$1/$3 into=$2/testdata/fuzz/$3
	[ -d "$cached" ] || return 0
	mkdir -p "$into"
	find "$cached" -type f -size "-${kept_bytes}c" -printf '%s %p\n' | sort -n | sed -n "1,${kept_inputs}p" | cut -d' ' -f2- |
		xargs -r cp -t "$into"
}

ran=0
for package in $(go list ./...); do
	# Only packages that have a target are built for it: go test -list would build them all.
	folder=$(go list -f '{{.Dir}}' "$package")
	grep -qs '^func Fuzz' "$folder"/*_test.go || continue
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
		seeds=$(go test -run "^$target\$" -v "$package" | grep -c "PASS: $target/" || true)
		printf '%-24s %-24s %4d seeds   ' "${package#mcpc/}" "$target" "$seeds"
		[ "$seeds" -ge "$least_seeds" ] || { echo "FAILED: fewer than $least_seeds"; exit 1; }
		if ! out=$(go test -run '^$' -fuzz "^$target\$" -fuzztime "$budget" -fuzzminimizetime 2s "$package" 2>&1); then
			printf 'FAILED\n%s\n' "$out"
			exit 1
		fi
		grep -ao 'execs: [0-9]*' <<<"$out" | tail -1 || echo 'execs: 0'
		[ -z "$keep" ] || keep_corpus "$package" "$folder" "$target"
		ran=$((ran + 1))
	done
done
[ "$ran" -ge "$least_targets" ] || { echo "$ran fuzz targets, fewer than $least_targets" >&2; exit 1; }
echo "$ran fuzz targets held for $budget each"

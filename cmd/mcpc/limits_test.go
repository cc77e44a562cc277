package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// endless stands for a peer that never stops, or never answers.
const endless = -1

// limitProbe is how one limit is met: play arranges a peer that goes to n of the limit's unit exactly, on one of the
// carriers where the limit applies, with the limit set to max.
type limitProbe struct {
	max      int64 // small, so that the test is quick
	carriers []string
	play     func(f *field, carrier, set string, max, n int64) ended

	refusal string // over the limit; "" for the name in the table
	endless string // without an end, where another limit comes first; "" for the same
	drops   bool   // nothing is refused: play itself looks at what the limit did
}

// TestLimits meets every limit of the table at one less, at the limit, at one more and without end, on every carrier
// where it applies. A limit that has no probe fails the test.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, limit := range config.Table {
		probe, ok := limitProbes[limit.Member]
		if !ok {
			t.Errorf("%s has no probe", limit.Member)
			continue
		}
		for _, carrier := range probe.carriers {
			for _, n := range []int64{probe.max - 1, probe.max, probe.max + 1, endless} {
				if limit.Unit == "ms" && n == probe.max-1 {
					n = 0
				}
				if limit.Unit == "ms" && n > 0 {
					continue // nobody can answer at the very millisecond; below and without end say what there is to say
				}
				t.Run(fmt.Sprintf("%s/%s/%d", limit.Member, carrier, n), func(t *testing.T) {
					t.Parallel()
					probe.try(newField(t), limit, carrier, n)
				})
			}
		}
	}
	if len(limitProbes) != len(config.Table) {
		t.Errorf("%d probes for %d limits", len(limitProbes), len(config.Table))
	}
}

func (p limitProbe) try(f *field, limit config.Limit, carrier string, n int64) {
	f.Helper()
	if limit.Unit == "ms" && n != endless {
		p.max = 10_000 // a peer that answers at once is in time on the busiest machine
	}
	begin := time.Now()
	end := p.play(f, carrier, quoted(limit.Member)+":"+strconv.FormatInt(p.max, 10), p.max, n)
	if took := time.Since(begin); took > 2*fieldDeadline {
		f.Errorf("took %v", took)
	}
	want, exit := "", 0
	if over := n > p.max || n == endless; over && !p.drops {
		want = p.name(limit, n)
		exit = exitOf(want)
	}
	if end.refusal != want || end.exit != exit {
		f.Fatalf("exit %d %q, want %d %q\nstdout: %.300s\nstderr: %.600s",
			end.exit, end.refusal, exit, want, end.stdout, end.stderr)
	}
	if want == "" {
		return
	}
	if end.stdout != "" {
		f.Errorf("something was printed: %.300s", end.stdout)
	}
	if want == p.name(limit, p.max+1) {
		f.wantDetail(end, "limit", p.max)
	}
	f.noSnapshotButPinned()
	f.checkPulses()
}

// exitOf returns the exit code of a refusal.
func exitOf(name string) int {
	for _, e := range refusal.All() {
		if e.Name == name {
			return e.Exit
		}
	}
	return -1
}

func (p limitProbe) name(limit config.Limit, n int64) string {
	switch {
	case n == endless && p.endless != "":
		return p.endless
	case p.refusal != "":
		return p.refusal
	}
	return limit.Refusal.Name
}

// noSnapshotButPinned fails the test where more was kept than what the test itself took before.
func (f *field) noSnapshotButPinned() {
	f.Helper()
	if kept, _ := filepath.Glob(filepath.Join(f.home, "data/mcpc/snapshots/*")); len(kept) > 1 {
		f.Errorf("something was kept: %v", kept)
	}
}

// TestLimitsAreConfigured sets every limit of the table to its bounds and beyond.
func TestLimitsAreConfigured(t *testing.T) {
	t.Parallel()
	for _, limit := range config.Table {
		for _, c := range []struct {
			value int64
			want  string
		}{{0, "config.type"}, {1, ""}, {limit.Max - 1, ""}, {limit.Max, ""}, {limit.Max + 1, "config.type"}} {
			f := newField(t)
			f.http("https://h.example/mcp", fmt.Sprintf(`"limits":{%q:%d}`, limit.Member, c.value))
			if end := f.run("config", "check"); end.refusal != c.want {
				t.Errorf("%s %d: %q, want %q", limit.Member, c.value, end.refusal, c.want)
			}
		}
	}
}

var both = []string{"http", "stdio"}

// limitProbes has a probe for every limit of the table, by its member.
var limitProbes = map[string]limitProbe{
	"frame_bytes": {max: 3000, carriers: []string{"http", "stream", "stdio"}, play: playFrame},
	"result_bytes": {
		max: 3000, carriers: []string{"http", "stream", "stdio"}, play: playResult, endless: "limit.frame",
	},
	"events":           {max: 20, carriers: []string{"stream", "legacy stream", "stdio"}, play: playEvents},
	"descriptor_bytes": {max: 2000, carriers: both, play: playDescriptor, endless: "limit.frame"},
	"tools":            {max: 30, carriers: both, play: playTools},
	"pages":            {max: 5, carriers: both, play: playPages},
	"snapshot_bytes":   {max: 20_000, carriers: both, play: playSnapshot},
	"cursor_bytes":     {max: 100, carriers: both, play: playCursor, endless: "limit.frame"},
	"argument_bytes":   {max: 500, carriers: both, play: playArguments},
	"depth": {
		max: 20, carriers: []string{"http", "stream", "stdio", "descriptor", "metadata", "token"}, play: playDepth,
	},
	"document_bytes": {
		max: 2000, carriers: []string{"resource", "server", "registration", "token", "refresh"}, play: playDocument,
	},
	"header_bytes":  {max: 3000, carriers: []string{"http", "metadata"}, play: playHeaders},
	"stderr_bytes":  {max: 1000, carriers: []string{"stdio"}, play: playStderr, drops: true},
	"skipped_lines": {max: 5, carriers: []string{"stdio"}, play: playNoise},
	"start_ms":      {max: 200, carriers: []string{"stdio", "connection"}, play: playStart},
	"probe_ms":      {max: 200, carriers: both, play: playProbe, drops: true},
	"request_ms":    {max: 200, carriers: both, play: playRequest},
	"call_ms": {
		max: 200, carriers: []string{"http", "stdio", "connection"}, play: playCall, refusal: "transport.outcome_unknown",
	},
	"shutdown_ms":  {max: 200, carriers: []string{"stdio", "session"}, play: playShutdown, drops: true},
	"sign_in_ms":   {max: 200, carriers: []string{"callback"}, play: playSignIn},
	"lock_wait_ms": {max: 200, carriers: []string{"refresh"}, play: playLock},
	"keyring_ms":   {max: 200, carriers: []string{"bus"}, play: playKeyring, refusal: "custody.keyring_timeout"},
}

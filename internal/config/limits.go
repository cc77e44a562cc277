package config

import (
	"time"

	"mcpc/internal/refusal"
)

// Limits are the bounds on one server, all of them configurable under "limits". Sizes are bytes.
type Limits struct {
	FrameBytes      int64
	ResultBytes     int64
	Events          int64 // messages in the answer to one request
	DescriptorBytes int64
	Tools           int64
	Pages           int64
	SnapshotBytes   int64
	CursorBytes     int64
	ArgumentBytes   int64
	Depth           int64
	DocumentBytes   int64 // protected-resource and authorization-server metadata, registration and token answers
	HeaderBytes     int64
	StderrBytes     int64 // kept of a child's stderr; the rest is drained
	SkippedLines    int64 // lines that are not frames, with "stdout_noise": "skip"
	Start           time.Duration
	Probe           time.Duration
	Request         time.Duration
	Call            time.Duration
	Shutdown        time.Duration
	SignIn          time.Duration
	LockWait        time.Duration
	Keyring         time.Duration
}

// Limit describes one bound: where it is set, what it is without that, and how it refuses.
type Limit struct {
	Member  string         // member of "limits" in the configuration
	Unit    string         // "bytes", "ms" or "count"
	Default int64          // in Unit
	Max     int64          // the largest value that can be configured, in Unit
	Refusal *refusal.Entry // what refuses; nil where the bound drops or moves on by design (Means says so)
	Means   string         // one sentence
	field   func(*Limits) any
}

// Table is every limit of mcpc, in the order of docs/limits.md.
var Table = []Limit{
	{"frame_bytes", "bytes", 16 << 20, 1 << 30, refusal.LimitFrame, "one message from the server: a stdio line, a JSON body, an event's data", func(l *Limits) any { return &l.FrameBytes }},
	{"result_bytes", "bytes", 16 << 20, 1 << 30, refusal.LimitResult, "the result member of one answer", func(l *Limits) any { return &l.ResultBytes }},
	{"events", "count", 10000, 1 << 30, refusal.LimitEvents, "messages in the answer to one request", func(l *Limits) any { return &l.Events }},
	{"descriptor_bytes", "bytes", 256 << 10, 1 << 30, refusal.LimitDescriptor, "one tool descriptor", func(l *Limits) any { return &l.DescriptorBytes }},
	{"tools", "count", 5000, 1 << 20, refusal.LimitTools, "tools of one server, the rejected included", func(l *Limits) any { return &l.Tools }},
	{"pages", "count", 256, 1 << 20, refusal.LimitPages, "pages of one tool list", func(l *Limits) any { return &l.Pages }},
	{"snapshot_bytes", "bytes", 64 << 20, 1 << 30, refusal.LimitSnapshot, "one snapshot document", func(l *Limits) any { return &l.SnapshotBytes }},
	{"cursor_bytes", "bytes", 4 << 10, 1 << 20, refusal.LimitCursor, "one paging cursor", func(l *Limits) any { return &l.CursorBytes }},
	{"argument_bytes", "bytes", 1 << 20, 1 << 30, refusal.LimitArguments, "the arguments of one call", func(l *Limits) any { return &l.ArgumentBytes }},
	{"depth", "count", 128, 1000, refusal.LimitDepth, "nesting of any JSON text", func(l *Limits) any { return &l.Depth }},
	{"document_bytes", "bytes", 256 << 10, 1 << 24, refusal.LimitDocument, "a metadata, registration or token document", func(l *Limits) any { return &l.DocumentBytes }},
	{"header_bytes", "bytes", 64 << 10, 1 << 20, refusal.LimitHeaders, "the header of one HTTP response", func(l *Limits) any { return &l.HeaderBytes }},
	{"stderr_bytes", "bytes", 64 << 10, 1 << 24, nil, "of a child's stderr the last bytes are kept for --server-stderr; all of it is read", func(l *Limits) any { return &l.StderrBytes }},
	{"skipped_lines", "count", 1000, 1 << 20, refusal.LimitSkippedLines, "lines that are not messages, where stdout_noise is skip", func(l *Limits) any { return &l.SkippedLines }},
	{"start_ms", "ms", 60_000, 3_600_000, refusal.DeadlineStart, "from the start of a child, or of a connection, to its first answer", func(l *Limits) any { return &l.Start }},
	{"probe_ms", "ms", 5_000, 3_600_000, nil, "for an answer to server/discover; then initialize is tried", func(l *Limits) any { return &l.Probe }},
	{"request_ms", "ms", 60_000, 3_600_000, refusal.DeadlineRequest, "one request other than tools/call", func(l *Limits) any { return &l.Request }},
	{"call_ms", "ms", 300_000, 86_400_000, refusal.DeadlineCall, "one tools/call; progress does not extend it", func(l *Limits) any { return &l.Call }},
	{"shutdown_ms", "ms", 5_000, 60_000, nil, "to end a child or a session; then the process group is killed", func(l *Limits) any { return &l.Shutdown }},
	{"sign_in_ms", "ms", 300_000, 3_600_000, refusal.DeadlineSignIn, "from opening the browser to its callback", func(l *Limits) any { return &l.SignIn }},
	{"lock_wait_ms", "ms", 30_000, 3_600_000, refusal.DeadlineLock, "for another process to finish with a credential", func(l *Limits) any { return &l.LockWait }},
	{"keyring_ms", "ms", 2_000, 60_000, nil, "for the keyring to answer; then it counts as timed out", func(l *Limits) any { return &l.Keyring }},
}

// DefaultLimits returns the limits of a server that sets none.
func DefaultLimits() Limits {
	var l Limits
	for _, limit := range Table {
		limit.Set(&l, limit.Default)
	}
	return l
}

// Set stores a value given in the limit's unit.
func (limit Limit) Set(l *Limits, value int64) {
	switch f := limit.field(l).(type) {
	case *int64:
		*f = value
	case *time.Duration:
		*f = time.Duration(value) * time.Millisecond
	}
}

// Get returns the value in the limit's unit.
func (limit Limit) Get(l *Limits) int64 {
	switch f := limit.field(l).(type) {
	case *int64:
		return *f
	case *time.Duration:
		return f.Milliseconds()
	}
	return 0
}

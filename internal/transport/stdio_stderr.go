package transport

import (
	"bytes"
	"sync"
)

// tail keeps the last limit bytes of what is written to it and takes any amount, so that a child never blocks on its
// stderr.
type tail struct {
	mu    sync.Mutex
	limit int
	kept  []byte // at most twice the limit, so that bytes move seldom
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, last(p, t.limit)...)
	if len(t.kept) > 2*t.limit {
		t.kept = append(t.kept[:0], last(t.kept, t.limit)...)
	}
	return len(p), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(last(t.kept, t.limit))
}

func last(p []byte, n int) []byte { return p[max(0, len(p)-n):] }

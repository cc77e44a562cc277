package transport

import (
	"context"
	"slices"
	"sync"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
)

// StdioOptions is what a stdio carrier is made from.
type StdioOptions struct {
	Server    *config.Server                   // its Stdio is set
	LookupEnv func(name string) (string, bool) // the operator's environment; on Windows it must ignore case
	Trace     *Trace                           // nil for none
}

// StderrKeeper is a carrier that keeps the end of what a child wrote to stderr. It is the peer's text.
type StderrKeeper interface {
	// Stderr returns at most the last StderrBytes bytes. After Close they are the last that there will be.
	Stderr() []byte
}

// NoiseSkipper is a carrier that skips lines which are no messages, where the configuration says so.
type NoiseSkipper interface {
	// Skipped returns how many lines were skipped.
	Skipped() int
}

// LateKeeper is a carrier that stays open when a request is given up, so that its answer may still come.
type LateKeeper interface {
	// Late returns the answer to the last request of that method that was given up, if it came after all.
	Late(method string) (*Response, bool)
}

// Executable is a carrier that runs a program.
type Executable interface {
	// Executable returns the absolute path of the program, or the path that the operator wrote.
	Executable() string
}

// stdio is a Carrier over a child process (specification, basic/transports/stdio).
type stdio struct {
	options StdioOptions
	limits  config.Limits
	inbox   inbox
	id      int64 // last one given
	skipped int
	late    map[string]*Response

	mu     sync.Mutex // guards child and closed
	child  *child
	closed bool
}

// DialStdio starts the server. An error is a *Failure.
func DialStdio(o StdioOptions) (Carrier, error) {
	s := &stdio{options: o, limits: o.Server.Limits}
	s.reset()
	if fail := s.spawn(); fail != nil {
		return nil, fail
	}
	return s, nil
}

func (s *stdio) reset() {
	s.inbox = inbox{limits: s.limits}
	s.id, s.late = 0, map[string]*Response{}
}

func (s *stdio) spawn() *Failure {
	c, no := startChild(s.options.Server.Stdio, s.limits, s.options.LookupEnv)
	if no != nil {
		return &Failure{Refusal: no}
	}
	s.mu.Lock()
	s.child = c
	closed := s.closed
	s.mu.Unlock()
	if closed {
		_ = c.end(s.limits.Shutdown)
		return &Failure{Refusal: refusal.New(refusal.Interrupted), Cause: CauseInterrupted}
	}
	return nil
}

func (s *stdio) current() *child {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.child
}

func (s *stdio) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Use implements Carrier.
func (s *stdio) Use(p Protocol) { s.inbox.protocol = p }

// Asked implements Carrier.
func (s *stdio) Asked() []string { return slices.Clone(s.inbox.asked) }

// Stderr implements StderrKeeper.
func (s *stdio) Stderr() []byte { return s.current().stderr.bytes() }

// Skipped implements NoiseSkipper.
func (s *stdio) Skipped() int { return s.skipped }

// Late implements LateKeeper.
func (s *stdio) Late(method string) (*Response, bool) {
	r, ok := s.late[method]
	return r, ok
}

// Executable implements Executable.
func (s *stdio) Executable() string { return s.current().cmd.Path }

// Restart implements Carrier: the old child and its group are ended before the new one starts.
func (s *stdio) Restart(ctx context.Context) error {
	if err := s.current().end(s.limits.Shutdown); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &Failure{Refusal: refusal.New(refusal.Interrupted), Cause: CauseInterrupted}
	}
	s.reset()
	if fail := s.spawn(); fail != nil {
		return fail
	}
	return nil
}

// Close implements Carrier. A server that exits when its stdin ends costs no wait.
func (s *stdio) Close() error {
	s.mu.Lock()
	s.closed = true
	c := s.child
	s.mu.Unlock()
	if err := c.end(s.limits.Shutdown); err != nil {
		return err
	}
	return nil
}

// Exchange implements Carrier.
func (s *stdio) Exchange(ctx context.Context, req *Request, note func(Notification)) (*Response, error) {
	if note == nil {
		note = func(Notification) {}
	}
	s.id++
	s.inbox.begin(0, "")
	x := s.submit(ctx, s.id, req.Method, encodeRequest(s.id, req))
	x.noCancel = req.NoCancel
	response, fail := s.await(ctx, x, note)
	if fail != nil {
		s.inbox.abandon()
		return nil, fail
	}
	s.inbox.end()
	return response, nil
}

// Notify implements Carrier.
func (s *stdio) Notify(ctx context.Context, req *Request) error {
	if fail := s.deliver(ctx, s.submit(ctx, 0, req.Method, encodeNotification(req))); fail != nil {
		return fail
	}
	return nil
}

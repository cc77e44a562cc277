package transport

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"mcpc/internal/refusal"
)

// Short waits for what is about to happen anyway: a process whose pipe broke ends, and an idle pipe takes a line.
const (
	exitGrace   = 500 * time.Millisecond
	cancelGrace = 100 * time.Millisecond
)

// exchange is one request, or one notification, on its way through a child.
type exchange struct {
	child    *child
	id       int64 // 0 for a notification
	method   string
	request  *outgoing
	patience time.Duration // from the start to the caller's deadline; 0 without one
	noCancel bool          // the server is not told when the caller gives up
}

// submit puts a frame at the end of the child's queue; id is 0 for a notification.
func (s *stdio) submit(ctx context.Context, id int64, method string, frame []byte) *exchange {
	x := &exchange{child: s.current(), id: id, method: method, request: newOutgoing(method, frame)}
	if d, ok := ctx.Deadline(); ok {
		x.patience = time.Until(d).Round(time.Millisecond)
	}
	x.child.queue = append(x.child.queue, x.request)
	return x
}

// handed notes that the head of the queue is on its way. Only then is a request in flight: what a server says before
// is no answer to it.
func (s *stdio) handed(x *exchange) {
	head := x.child.queue[0]
	x.child.queue = x.child.queue[1:]
	s.options.Trace.Sent(head.method, head.frame())
	if head == x.request && x.id != 0 {
		s.inbox.begin(x.id, x.method)
	}
}

// await writes and reads at once, so that neither side can block the other for ever on a full pipe.
func (s *stdio) await(ctx context.Context, x *exchange, note func(Notification)) (*Response, *Failure) {
	if ctx.Err() != nil {
		return nil, s.ended(ctx, x)
	}
	var broken <-chan time.Time
	written := x.request.done
	for {
		out, head := x.child.next()
		select {
		case out <- head:
			s.handed(x)
		case <-written:
			written = nil
			switch {
			case x.request.err == nil:
			case errors.Is(x.request.err, os.ErrDeadlineExceeded):
				return nil, s.stalled(x)
			case errors.Is(x.request.err, os.ErrClosed):
				return nil, s.exited(x, 0)
			default:
				broken = time.After(exitGrace)
			}
		case line, ok := <-x.child.lines:
			if !ok {
				return nil, s.exited(x, exitGrace)
			}
			if response, fail := s.receive(x, line, note); response != nil || fail != nil {
				return response, fail
			}
		case <-broken:
			return nil, s.exited(x, 0)
		case <-ctx.Done():
			return nil, s.ended(ctx, x)
		}
	}
}

// receive handles one line; it returns nothing when the answer is still to come.
func (s *stdio) receive(x *exchange, line inbound, note func(Notification)) (*Response, *Failure) {
	if line.over {
		x.child.signal(x.child.group.kill)
		return nil, x.fail(refusal.New(refusal.LimitFrame, refusal.Num("limit", s.limits.FrameBytes)))
	}
	m, no := decodeFrame(line.frame, s.limits.Depth)
	s.traceReceived(m, line.frame)
	if no != nil {
		return nil, s.unusable(x, line, no)
	}
	x.child.heard = true
	d, no := s.inbox.take(m)
	switch {
	case no != nil:
		return nil, x.fail(no)
	case d.note != nil:
		note(*d.note)
	case d.reply != nil:
		x.child.queue = append(x.child.queue, newOutgoing("", d.reply))
	case d.late != nil:
		s.late[d.late.method] = d.late.response
	}
	return d.response, nil
}

// unusable refuses a line that is no message, or skips it where it is noise and the configuration says so.
func (s *stdio) unusable(x *exchange, line inbound, no *refusal.Refusal) *Failure {
	noise, skippable := classify(line.frame, no)
	switch {
	case line.unended:
		return nil // cut off by the end of the stream, which is reported next
	case !noise:
		if slices.Contains(no.Entry().Fields, "line") {
			no = no.With(refusal.Num("line", line.number))
		}
		return x.fail(no)
	case !skippable || !s.options.Server.Stdio.SkipNoise:
		return x.fail(refusal.New(refusal.ProtocolStdoutNoise,
			refusal.Num("line", line.number), refusal.Num("bytes", len(line.frame))))
	case int64(s.skipped) >= s.limits.SkippedLines:
		return x.fail(refusal.New(refusal.LimitSkippedLines, refusal.Num("limit", s.limits.SkippedLines)))
	}
	s.skipped++
	return nil
}

func (s *stdio) traceReceived(m message, frame []byte) {
	method := m.method
	if method == "" {
		method = s.inbox.method
	}
	s.options.Trace.Received(method, 0, frame)
}

// deliver waits until a notification is written.
func (s *stdio) deliver(ctx context.Context, x *exchange) *Failure {
	if ctx.Err() != nil {
		return s.ended(ctx, x)
	}
	for {
		out, head := x.child.next()
		select {
		case out <- head:
			s.handed(x)
		case <-x.request.done:
			switch {
			case x.request.err == nil:
				return nil
			case errors.Is(x.request.err, os.ErrDeadlineExceeded):
				return s.stalled(x)
			}
			return s.exited(x, exitGrace)
		case <-x.child.quit:
			return s.exited(x, exitGrace)
		case <-ctx.Done():
			return s.ended(ctx, x)
		}
	}
}

// fail makes a failure. What was not written completely cannot be taken back, so the stream ends with it.
func (x *exchange) fail(no *refusal.Refusal) *Failure {
	sent, complete := x.child.settle(x.request)
	if !complete {
		x.child.closeStdin()
	}
	return &Failure{Refusal: no, Sent: sent}
}

func (s *stdio) stalled(x *exchange) *Failure {
	f := x.fail(refusal.New(refusal.TransportStalled))
	f.Cause = CauseDeadline
	return f
}

// exited says how the process ended, if it does within the grace. The names of the variables it saw are the operator's
// own; a variable that is missing there is the usual cause.
func (s *stdio) exited(x *exchange, grace time.Duration) *Failure {
	if s.isClosed() {
		f := x.fail(refusal.New(refusal.Interrupted))
		f.Cause = CauseInterrupted
		return f
	}
	method := refusal.Own("method", x.method)
	if !x.child.exitedWithin(grace) {
		f := x.fail(refusal.New(refusal.TransportClosed, method))
		f.Cause = CauseConnection
		return f
	}
	fields := []refusal.Field{method, refusal.Owns("inherited", s.options.Server.Stdio.Env)}
	if name := signalName(x.child.cmd.ProcessState); name != "" {
		fields = append(fields, refusal.Own("signal", name))
	} else {
		fields = append(fields, refusal.Num("exit", x.child.cmd.ProcessState.ExitCode()))
	}
	f := x.fail(refusal.New(refusal.TransportExited, fields...))
	f.Cause, f.Exited = CauseExited, true
	return f
}

// ended says why the caller's context ended, after telling the server that nobody waits any more.
func (s *stdio) ended(ctx context.Context, x *exchange) *Failure {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		f := s.cancel(x, refusal.New(refusal.Interrupted))
		f.Cause = CauseInterrupted
		return f
	}
	limit := refusal.Num("limit", x.patience.Milliseconds())
	no := refusal.New(refusal.DeadlineRequest, refusal.Own("method", x.method), limit)
	if !x.child.heard {
		no = refusal.New(refusal.DeadlineStart, limit)
	}
	f := s.cancel(x, no)
	f.Cause = CauseDeadline
	return f
}

// cancel sends notifications/cancelled if the request was written. An initialize must not be cancelled (legacy
// specification, basic/utilities/cancellation).
func (s *stdio) cancel(x *exchange, no *refusal.Refusal) *Failure {
	sent, complete := x.child.settle(x.request)
	switch {
	case sent && !complete:
		if no.Entry() != refusal.Interrupted {
			no = refusal.New(refusal.TransportStalled)
		}
	case sent && s.inbox.flight != 0 && x.method != "initialize" && !x.noCancel:
		s.sendCancelled(x.child)
	}
	return &Failure{Refusal: no, Sent: sent}
}

func (s *stdio) sendCancelled(c *child) {
	o := newOutgoing("notifications/cancelled", encodeCancelled(s.inbox.flight))
	late := time.After(cancelGrace)
	select {
	case c.out <- o:
		s.options.Trace.Sent(o.method, o.frame())
	case <-late:
		return
	}
	select {
	case <-o.done:
	case <-late:
	}
}

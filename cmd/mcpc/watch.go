package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// How a watch paces itself. A server decides when to say that its tools changed, and may say it without end; it does
// not decide how often it is looked at.
const (
	settling  = 250 * time.Millisecond // from a notification to the look, for others to come
	unsaid    = 2 * time.Second        // for a server that does not say that it will announce changes
	leastGap  = time.Second            // between two looks; doubled while looks bring no rest
	mostGap   = time.Minute
	lookAgain = 5 * time.Second // after a pause in which a notification may have been missed
	leastWait = time.Second     // before a stream is opened again; doubled with each try in a row
	mostWait  = time.Minute
)

// post is a session that is listened to.
type post interface {
	Listen(ctx context.Context, onOpen, onChange func()) error
	// Candidate takes a snapshot that is kept nowhere.
	Candidate(ctx context.Context) (*snapshot.Snapshot, error)
	Close() error
}

// watch looks at a server again whenever that says that its tools changed, and tells of every surface that is not the
// one told of last. It holds the snapshot in use to compare with, and changes nothing.
type watch struct {
	open   func(context.Context) (post, error)
	pauses bool // candidates come through the connection that is listened to, and listening stops meanwhile
	inUse  *snapshot.Snapshot
	tell   func(watchEvent)
	random func() float64 // in [0, 1)

	told strictjson.Digest // the surface told of last
	gap  time.Duration     // to keep until the next look
	last time.Time         // of the last look
}

// Events of a watch.
const (
	watchWatching = "watching" // the server is listened to
	watchChanged  = "changed"  // a candidate differs from the snapshot in use
	watchSame     = "same"     // a candidate is the snapshot in use again
	watchFailed   = "failed"   // no candidate could be taken; it is tried again
	watchDropped  = "dropped"  // the stream ended; it is opened again
)

type watchEvent struct {
	kind      string
	candidate *snapshot.Snapshot // changed, same
	err       error              // failed, dropped; nil where the server ended the stream in an orderly way
	wait      time.Duration      // failed, dropped: until the next try
}

// run watches until ctx ends, which is no error, or until it is known that there is nothing to watch.
func (w *watch) run(ctx context.Context) error {
	w.told = w.inUse.ID
	wait, opened := leastWait, false
	for {
		began := time.Now()
		p, err := w.open(ctx)
		if err == nil {
			opened = true
			err = w.stand(ctx, p)
			_ = p.Close()
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (!opened || hopeless(err)):
			return err
		}
		if time.Since(began) > mostWait {
			wait = leastWait
		}
		pause := w.jittered(wait)
		if !refusal.Is(err, refusal.LimitEvents) { // a stream has so many messages and no more
			w.tell(watchEvent{kind: watchDropped, err: err, wait: pause})
		}
		if !sleep(ctx, pause) {
			return nil
		}
		wait = min(2*wait, mostWait)
	}
}

// hopeless reports whether trying again cannot help: sign-in, configuration, policy, or a server without the feature.
func hopeless(err error) bool {
	r := refusal.From(err)
	switch r.ExitCode() {
	case refusal.ExitUsage, refusal.ExitSignIn:
		return true
	case refusal.ExitRefused:
		return !strings.HasPrefix(r.Name(), "limit.")
	}
	return false
}

// jittered spreads the tries of many watches of one server: between a half of the time and the whole.
func (w *watch) jittered(d time.Duration) time.Duration {
	return d/2 + time.Duration(w.random()*float64(d/2))
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// stand listens at one post until the stream ends, and looks whenever it has reason to: at first, since nobody listened
// before, and then for each change.
func (w *watch) stand(ctx context.Context, p post) error {
	e := &ear{stop: func() {}}
	if !w.pauses {
		e = w.hear(ctx, p)
	}
	defer func() { e.stop() }()
	for confirm, first := w.pauses, true; ; first = false {
		if w.pauses {
			e.stop()
		}
		candidate, err := w.look(ctx, p)
		if err != nil {
			return err
		}
		if w.pauses {
			e = w.hear(ctx, p)
		}
		if first {
			if err := e.opened(); err != nil {
				return err
			}
			w.tell(watchEvent{kind: watchWatching})
		}
		var again <-chan time.Time
		switch {
		case !w.report(candidate):
			again = time.After(w.gap)
		case confirm:
			again, confirm = time.After(lookAgain), false
		}
		changed, err := w.await(e, again)
		if !changed && !errors.Is(err, errLookAgain) {
			return err
		}
		confirm = confirm || changed && w.pauses
	}
}

// ear is a Listen that is under way.
type ear struct {
	open    chan struct{} // closed when the server has said that it will announce changes
	changed chan struct{}
	done    chan error // holds its error when it is over
	stop    func()     // ends it, and waits until it has ended
}

// opened waits until the server will announce changes, for a moment where it does not say so. It returns why nothing
// is to be heard here, if that turns out.
func (e *ear) opened() error {
	select {
	case <-e.open:
	case <-time.After(unsaid):
	case err := <-e.done:
		e.done <- err
		if err != nil && hopeless(err) {
			return err
		}
	}
	return nil
}

func (w *watch) hear(ctx context.Context, p post) *ear {
	ctx, cancel := context.WithCancel(ctx)
	e := &ear{open: make(chan struct{}), changed: make(chan struct{}, 1), done: make(chan error, 1)}
	over := make(chan struct{})
	e.stop = func() { cancel(); <-over }
	go func() {
		defer close(over)
		e.done <- p.Listen(ctx, sync.OnceFunc(func() { close(e.open) }), func() {
			select {
			case e.changed <- struct{}{}:
			default:
			}
		})
	}()
	return e
}

// errLookAgain says that the time has come, and that nothing else has.
var errLookAgain = errors.New("look again")

// await waits for a reason to look: a change, with those that come soon after it, or the time. Otherwise the stream
// ended, with an error or without.
func (w *watch) await(e *ear, again <-chan time.Time) (changed bool, err error) {
	select {
	case <-again:
		return false, errLookAgain
	case err := <-e.done:
		return false, err
	case <-e.changed:
	}
	w.gap = w.nextGap()
	select {
	case <-time.After(max(settling, time.Until(w.last.Add(w.gap)))):
	case err := <-e.done:
		return false, err
	}
	select {
	case <-e.changed: // the look to come answers this one too
	default:
	}
	return true, nil
}

// nextGap doubles the gap for a server that says soon after each look that its tools changed.
func (w *watch) nextGap() time.Duration {
	if w.gap > 0 && time.Since(w.last) < 2*w.gap {
		return min(2*w.gap, mostGap)
	}
	return leastGap
}

// look takes a candidate, or an error to report in its place. Its own error ends the post.
func (w *watch) look(ctx context.Context, p post) (watchEvent, error) {
	candidate, err := p.Candidate(ctx)
	w.last = time.Now()
	if err != nil && (ctx.Err() != nil || hopeless(err)) {
		return watchEvent{}, err
	}
	return watchEvent{candidate: candidate, err: err}, nil
}

// report tells of a candidate when it is another surface than the one told of last. It returns false when there is
// none, and it is to be tried again after the gap.
func (w *watch) report(e watchEvent) bool {
	switch {
	case e.err != nil:
		w.gap = min(max(2*w.gap, leastGap), mostGap)
		w.tell(watchEvent{kind: watchFailed, err: e.err, wait: w.gap})
		return false
	case e.candidate.ID == w.told:
		return true
	}
	e.kind = watchChanged
	if e.candidate.ID == w.inUse.ID {
		e.kind = watchSame
	}
	w.told = e.candidate.ID
	w.tell(e)
	return true
}

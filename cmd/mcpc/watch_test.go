package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// observed is a watch of a server that a test plays, on a clock of the test's own.
type observed struct {
	*watch
	opens, closes, looks int
	listening            atomic.Int64

	began     time.Time
	candidate func(n int) (id string, err error)                      // of the nth look
	listen    func(ctx context.Context, n int, onChange func()) error // of the nth opening
	mute      bool                                                    // it does not say that it will announce changes
	refuse    func(n int) error                                       // the nth opening
	events    []string
}

func observe(pauses bool) *observed {
	o := &observed{began: time.Now()}
	o.watch = &watch{
		pauses: pauses,
		inUse:  &snapshot.Snapshot{ID: "a"},
		random: func() float64 { return 1 },
		tell:   o.hear,
		open: func(context.Context) (post, error) {
			o.opens++
			if o.refuse != nil {
				if err := o.refuse(o.opens); err != nil {
					return nil, err
				}
			}
			return o, nil
		},
	}
	o.candidate = func(int) (string, error) { return "a", nil }
	o.listen = func(ctx context.Context, _ int, _ func()) error {
		<-ctx.Done()
		return refusal.New(refusal.Interrupted)
	}
	return o
}

func (o *observed) hear(e watchEvent) {
	text := e.kind
	if e.candidate != nil {
		text += " " + string(e.candidate.ID)
	}
	if e.err != nil {
		text += " " + refusal.From(e.err).Name()
	}
	if e.wait > 0 {
		text += " " + e.wait.String()
	}
	o.events = append(o.events, fmt.Sprintf("%s: %s", time.Since(o.began).Round(10*time.Millisecond), text))
}

func (o *observed) Listen(ctx context.Context, onOpen, onChange func()) error {
	o.listening.Add(1)
	defer o.listening.Add(-1)
	if !o.mute {
		onOpen()
	}
	return o.listen(ctx, o.opens, onChange)
}

func (o *observed) Candidate(ctx context.Context) (*snapshot.Snapshot, error) {
	synctest.Wait()
	if o.listening.Load() > 0 == o.pauses {
		o.events = append(o.events, "listening and looking do not go together like this")
	}
	o.looks++
	id, err := o.candidate(o.looks)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return &snapshot.Snapshot{ID: strictjson.Digest(id)}, nil
}

func (o *observed) Close() error { o.closes++; return nil }

// during runs the watch for a time and requires these events.
func (o *observed) during(t *testing.T, d time.Duration, wantErr *refusal.Entry, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	err := o.run(ctx)
	if (wantErr == nil) != (err == nil) || wantErr != nil && !refusal.Is(err, wantErr) {
		t.Errorf("ends with %v", err)
	}
	if got := strings.Join(o.events, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwanted:\n%s", got, strings.Join(want, "\n"))
	}
	if o.listening.Load() != 0 || o.closes > o.opens {
		t.Errorf("%d still listen; %d opened, %d closed", o.listening.Load(), o.opens, o.closes)
	}
}

// eachInTurn gives one candidate after the other, and the last for good.
func eachInTurn(ids ...string) func(int) (string, error) {
	return func(n int) (string, error) { return ids[min(n, len(ids))-1], nil }
}

// at says that something changed at these times after the opening.
func at(times ...time.Duration) func(context.Context, int, func()) error {
	return func(ctx context.Context, n int, onChange func()) error {
		if n > 1 {
			times = nil
		}
		began := time.Now()
		for len(times) > 0 {
			if !sleep(ctx, time.Until(began.Add(times[0]))) {
				return ctx.Err()
			}
			times = times[1:]
			onChange()
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

func TestWatchTellsOfEachSurfaceOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := observe(false)
		o.candidate = eachInTurn("a", "b", "b", "c", "a")
		o.listen = at(10*time.Second, 20*time.Second, 30*time.Second, 40*time.Second)
		o.during(t, time.Hour, nil, "0s: watching", "10.25s: changed b", "30.25s: changed c", "40.25s: same a")
		if o.looks != 5 || o.opens != 1 || o.closes != 1 {
			t.Error(o.looks, o.opens, o.closes)
		}
	})
}

func TestWatchSeesWhatChangedBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := observe(false)
		o.candidate = eachInTurn("b")
		o.during(t, time.Hour, nil, "0s: watching", "0s: changed b")
	})
}

// A child is looked at through the pipe that is listened to, and once more for what came in between.
func TestWatchPausesForAChild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := observe(true)
		o.candidate = eachInTurn("a", "a", "b", "c", "c")
		o.listen = at(10 * time.Second)
		o.during(t, time.Hour, nil, "0s: watching", "15.25s: changed b", "20.25s: changed c")
		if o.looks != 4 || o.opens != 1 {
			t.Error(o.looks, o.opens)
		}
	})
}

func TestWatchTakesAStormAsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := observe(false)
		o.listen = func(ctx context.Context, _ int, onChange func()) error {
			for range 500 {
				onChange()
			}
			<-ctx.Done()
			return ctx.Err()
		}
		o.during(t, time.Hour, nil, "0s: watching")
		if o.looks != 2 {
			t.Errorf("%d looks", o.looks)
		}
	})
}

// A server that changes on every list, and says so each time, is looked at less and less often.
func TestWatchDoesNotRunInCircles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := observe(false)
		told := make(chan struct{}, 1)
		o.candidate = func(n int) (string, error) {
			select {
			case told <- struct{}{}:
			default:
			}
			return fmt.Sprint(n), nil
		}
		o.listen = func(ctx context.Context, _ int, onChange func()) error {
			for {
				select {
				case <-told:
					onChange()
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := o.run(ctx); err != nil || o.looks < 55 || o.looks > 70 {
			t.Errorf("%v, %d looks", err, o.looks)
		}
	})
}

func TestWatchOpensAgainWithGrowingWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := observe(false)
		o.candidate = eachInTurn("a", "b")
		o.listen = func(ctx context.Context, n int, _ func()) error {
			up := time.Second
			if n == 4 {
				up = time.Hour
			}
			sleep(ctx, up)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case n == 1: // in an orderly way
				return nil
			}
			return refusal.New(refusal.TransportClosed)
		}
		o.refuse = func(n int) error {
			if n == 3 {
				return refusal.New(refusal.TransportUnreachable)
			}
			return nil
		}
		o.during(t, time.Hour+30*time.Second, nil,
			"0s: watching", "1s: dropped 1s",
			"2s: watching", "2s: changed b", "3s: dropped transport.closed 2s",
			"5s: dropped transport.unreachable 4s",
			"9s: watching", "1h0m9s: dropped transport.closed 1s",
			"1h0m10s: watching", "1h0m11s: dropped transport.closed 2s",
			"1h0m13s: watching", "1h0m14s: dropped transport.closed 4s",
			"1h0m18s: watching", "1h0m19s: dropped transport.closed 8s",
			"1h0m27s: watching", "1h0m28s: dropped transport.closed 16s")
		if o.closes != o.opens-1 {
			t.Errorf("%d opened, %d closed", o.opens, o.closes)
		}
	})
}

func TestWatchJitter(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for random, want := range map[float64]time.Duration{0: 500 * ms, 0.5: 750 * ms, 1: 1000 * ms} {
		w := &watch{random: func() float64 { return random }}
		if got := w.jittered(time.Second); got != want {
			t.Errorf("%v: %s", random, got)
		}
	}
}

// A stream may bring so many messages and no more; that is nobody's fault, and no reason to hurry.
func TestWatchGoesOnAfterAFullStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := observe(false)
		o.candidate = eachInTurn("b")
		o.listen = func(ctx context.Context, _ int, _ func()) error {
			sleep(ctx, time.Millisecond)
			return refusal.New(refusal.LimitEvents, refusal.Num("limit", int64(1)))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := o.run(ctx); err != nil || o.opens < 60 || o.opens > 70 || o.events[1] != "0s: changed b" {
			t.Error(err, o.opens, o.events)
		}
	})
}

func TestWatchEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, later, listen, look *refusal.Entry
		want                       *refusal.Entry
	}{
		"unreachable at first": {first: refusal.TransportUnreachable, want: refusal.TransportUnreachable},
		"no such feature":      {listen: refusal.FeatureListen, want: refusal.FeatureListen},
		"sign-in at first":     {first: refusal.OAuthLoginRequired, want: refusal.OAuthLoginRequired},
		"sign-in later": {
			listen: refusal.TransportClosed, later: refusal.OAuthLoginRequired, want: refusal.OAuthLoginRequired,
		},
		"sign-in for a look":    {look: refusal.OAuthLoginRequired, want: refusal.OAuthLoginRequired},
		"a source that is gone": {listen: refusal.TransportClosed, later: refusal.SourceUnset, want: refusal.SourceUnset},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := observe(false)
				o.refuse = func(n int) error {
					if e := c.first; e != nil && n == 1 {
						return refusal.New(e)
					}
					if e := c.later; e != nil && n > 1 {
						return refusal.New(e)
					}
					return nil
				}
				if c.listen != nil {
					o.mute = true
					o.listen = func(context.Context, int, func()) error { return refusal.New(c.listen) }
				}
				if c.look != nil {
					o.candidate = func(int) (string, error) { return "", refusal.New(c.look) }
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				if err := o.run(ctx); !refusal.Is(err, c.want) {
					t.Error(err)
				}
			})
		})
	}
}

func TestWatchTriesACandidateAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := observe(false)
		o.candidate = func(n int) (string, error) {
			switch n {
			case 1:
				return "", refusal.New(refusal.ProtocolUnstable)
			case 2:
				return "", refusal.New(refusal.LimitTools, refusal.Num("limit", int64(1)))
			}
			return "b", nil
		}
		o.during(t, time.Hour, nil,
			"0s: watching", "0s: failed protocol.unstable 1s", "1s: failed limit.tools 2s", "3s: changed b")
	})
}

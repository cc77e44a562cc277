package store

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"mcpc/internal/refusal"
)

const (
	lockSuffix = ".lock"
	lockRetry  = 10 * time.Millisecond
)

// lock takes the lock of a file, which is an OS lock on a file beside it and ends with the process that holds it. The
// lock file stays: to remove it would let two processes lock two files of one name. Errors are limit.deadline_lock,
// interrupted and custody.write.
func lock(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	bounded, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	l := flock.New(path+lockSuffix, flock.SetPermissions(0o600))
	_, err = l.TryLockContext(bounded, lockRetry)
	switch {
	case err == nil:
		return func() { _ = l.Unlock() }, nil
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, refusal.New(refusal.Interrupted)
	case bounded.Err() != nil:
		return nil, refusal.New(refusal.DeadlineLock, refusal.Num("limit", wait.Milliseconds()))
	}
	return nil, refusal.New(refusal.CustodyWrite, refusal.Own("path", path+lockSuffix))
}

// sweep removes what a writer left that was killed between writing and renaming. While the lock is held that is still
// the writer's own, and stays.
func sweep(next string) {
	l := flock.New(strings.TrimSuffix(next, nextSuffix)+lockSuffix, flock.SetPermissions(0o600))
	if free, err := l.TryLock(); err == nil && free {
		_ = os.Remove(next)
		_ = l.Unlock()
	}
}

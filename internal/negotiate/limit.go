package negotiate

import (
	"context"
	"errors"
	"time"

	"mcpc/internal/refusal"
)

// reached is the cause of a context that one of our limits ended, and not the caller. A carrier knows only how much of
// a limit was left; a refusal says the limit.
type reached time.Duration

func (reached) Error() string { return "limit reached" }

func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, reached(limit))
}

// limitReached returns the limit that ended ctx, as the field of a refusal.
func limitReached(ctx context.Context) (limit refusal.Field, ok bool) {
	cause, ok := errors.AsType[reached](context.Cause(ctx))
	return refusal.Num("limit", time.Duration(cause).Milliseconds()), ok
}

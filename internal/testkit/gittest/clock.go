package gittest

import (
	"sync/atomic"
	"time"
)

// clock gives every command its own time, a minute after the one before, so that commits have fixed and increasing dates. Parallel tests
// may share it.
type clock struct{ minutes atomic.Int64 }

func (c *clock) next() time.Time {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return began.Add(time.Duration(c.minutes.Add(1)) * time.Minute)
}

package lane

import (
	"slices"
	"strings"
)

// Lane is how much rigour a change gets. It is claimed before the work.
type Lane string

// The lanes, from the least rigour to the most. The zero Lane is none.
const (
	Fast     Lane = "fast"
	Standard Lane = "standard"
	Deep     Lane = "deep"
)

// Parse reads a lane's name, without regard to case.
func Parse(name string) (Lane, bool) {
	l := Lane(strings.ToLower(strings.TrimSpace(name)))
	return l, l.rank() > 0
}

// rank orders lanes; none is 0.
func (l Lane) rank() int { return slices.Index(Names, string(l)) + 1 }

// Less reports whether a lane has less rigour than another.
func (l Lane) Less(other Lane) bool { return l.rank() < other.rank() }

// Stricter returns the one of two lanes that has more rigour.
func Stricter(a, b Lane) Lane {
	if a.Less(b) {
		return b
	}
	return a
}

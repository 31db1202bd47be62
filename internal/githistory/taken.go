package githistory

import (
	"context"
	"sync"

	"github.com/small-gate/small-gate/internal/gate"
)

// Taken remembers of edges where something is taken away on them, since who
// compares two trees as a whole sees that by the way. The zero Taken is ready
// for use, also by several at once.
type Taken struct {
	mu    sync.Mutex
	edges map[gate.Edge][]string
}

// Note remembers the paths of an edge.
func (t *Taken) Note(edge gate.Edge, taken []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.edges == nil {
		t.edges = map[gate.Edge][]string{}
	}
	t.edges[edge] = taken
}

// Forget forgets all edges.
func (t *Taken) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.edges = nil
}

// Drop forgets an edge: the index is another one the next time.
func (t *Taken) Drop(edge gate.Edge) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.edges, edge)
}

// Look says what is known of an edge.
func (t *Taken) Look(edge gate.Edge) (taken []string, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken, known = t.edges[edge]
	return taken, known
}

// Found says what is known of an edge that has just been compared as a whole. That
// nothing is known is no answer: it would let pass what nobody looked at.
func (t *Taken) Found(edge gate.Edge) ([]string, error) {
	taken, known := t.Look(edge)
	if !known {
		return nil, &gate.Failure{Message: "it was not found out what was taken away between " + edge.Parent + " and " + edge.Child}
	}
	return taken, nil
}

// TakenBy lists the paths at which changes take something away.
func TakenBy(changes []gate.Change) []string {
	var paths []string
	for _, c := range changes {
		if c.Takes() {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// Taken lists the paths at which an edge takes something away, whatever files
// these are.
func (r *Repo) Taken(ctx context.Context, edge gate.Edge) ([]string, error) {
	if edge.Parent == "" {
		return nil, nil
	}
	if taken, known := r.taken.Look(edge); known {
		return taken, nil
	}
	if _, err := r.compare(ctx, []gate.Edge{edge}, []string{everything}, r.watch.OfInterest); err != nil {
		return nil, err
	}
	return r.taken.Found(edge)
}

// wholly reports whether edges are compared as wholes: a commit that is about to
// be made, and two tips, differ in little, and are asked about once. Then nothing
// has to be compared a second time to find what they take away.
func wholly(edges []gate.Edge) bool {
	for _, e := range edges {
		if e.Parent == "" || e.Child != gate.Index && len(edges) > 1 {
			return false
		}
	}
	return true
}

package read

import (
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
)

// TestSearchedBehind checks that a walk over a history asks about each commit once, and that nothing is found but among a commit's ancestors.
func TestSearchedBehind(t *testing.T) {
	const n = 1000
	a := newAncestry()
	for i := range n {
		var parents []int
		switch {
		case i == 0:
		case i%10 == 9: // joins a line that began five commits before
			parents = []int{i - 1, i - 5}
		default:
			parents = []int{i - 1}
		}
		a.commits = append(a.commits, ancestor{parents: parents})
	}
	side := len(a.commits)
	a.commits = append(a.commits, ancestor{parents: []int{100}}) // a branch
	asked := 0
	test := func(i int) (bool, error) {
		asked++
		return i == 700, nil
	}
	s := searchResults{}
	for i := range n {
		want := -1
		if i >= 700 {
			want = 700
		}
		if got, err := s.find(a, i, "log", test); err != nil || got != want {
			t.Fatalf("behind commit %d: %d, %v; want %d", i, got, err, want)
		}
	}
	if asked != n {
		t.Errorf("%d questions about %d commits", asked, n)
	}
	if got, err := s.find(a, side, "log", test); err != nil || got != -1 {
		t.Errorf("behind a branch from before: %d, %v", got, err)
	}
	if got, err := (searchResults{}).find(a, n-1, "log", test); err != nil || got != 700 {
		t.Errorf("at once from the newest commit: %d, %v", got, err)
	}
}

// TestSearchNearConfiguration checks that a version from just before or after a change of the configuration is found without reading the others.
func TestSearchNearConfiguration(t *testing.T) {
	edge := []history.Change{{Path: "log", New: history.File{Path: "log", Mode: history.ModePlain}}}
	for _, holds := range []int{497, 499, 502} { // the configuration is changed in 500; commits with an odd number change the log, and 502
		a := newAncestry()
		for i := range 1000 {
			c := ancestor{configures: i == 500 || i == 50}
			if i > 0 {
				c.parents = []int{i - 1}
			}
			if i%2 == 1 || i == 502 {
				c.changes = [][]history.Change{edge}
			}
			a.commits = append(a.commits, c)
		}
		asked := 0
		got, err := searchResults{}.find(a, 999, "log", func(i int) (bool, error) {
			asked++
			return i == holds, nil
		})
		if holds == 502 { // 501 is the next one that changes the log
			if got != holds || asked < 400 {
				t.Errorf("%d: found %d with %d questions", holds, got, asked)
			}
		} else if got != holds || asked > 4 || err != nil {
			t.Errorf("%d: found %d with %d questions: %v", holds, got, asked, err)
		}
	}
}

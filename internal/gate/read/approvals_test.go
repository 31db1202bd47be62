package read

import "testing"

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
	s := searched{}
	for i := range n {
		want := -1
		if i >= 700 {
			want = 700
		}
		if got, err := s.behind(a, i, test); err != nil || got != want {
			t.Fatalf("behind commit %d: %d, %v; want %d", i, got, err, want)
		}
	}
	if asked != n {
		t.Errorf("%d questions about %d commits", asked, n)
	}
	if got, err := s.behind(a, side, test); err != nil || got != -1 {
		t.Errorf("behind a branch from before: %d, %v", got, err)
	}
	if got, err := (searched{}).behind(a, n-1, test); err != nil || got != 700 {
		t.Errorf("at once from the newest commit: %d, %v", got, err)
	}
}

package main

import (
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// onlyStates selects cells of the matrix by STATE/WRONG/COMMAND.
var onlyStates = flag.String("states", "", "what TestStates tries, as a regular expression of STATE/WRONG/COMMAND; `.` is the whole matrix")

// shortStates are the cells that are always tried.
var shortStates = []string{
	"merge/marked_as_it_is/go on", "merge_no_commit/modified/go on", "rebase/deleted/small-hook reconcile", "published/committed_edit/small-hook audit",
	"lock/modified_unstaged/small-hook restore",
}

// cell is one place of the matrix.
type cell struct {
	gitState
	wrong
	speaker string
}

func (c cell) String() string { return c.gitState.name + "/" + c.wrong.name + "/" + c.speaker }

// cells are the cells to try: a few; in the long tests one for a tenth of the states and wrongs, with the commands in turn; or those that
// the flag selects.
func cells(t *testing.T) (out []cell) {
	t.Helper()
	only, err := regexp.Compile(*onlyStates)
	if err != nil {
		t.Fatal(err)
	}
	turn, one := 0, gittest.OneIn(5)
	taken, half := 0, gittest.OneIn(2)
	for _, s := range gitStates {
		for _, w := range wrongs {
			if !w.applies(s) {
				continue
			}
			for i, speaker := range speakers {
				if !speaks(speaker, s) {
					continue
				}
				c := cell{s, w, speaker}
				switch {
				case *onlyStates != "" && !only.MatchString(c.String()):
				case *onlyStates == "" && !slices.Contains(shortStates, c.String()) && (!gittest.All() || turn%one != 0 || i != turn/one%len(speakers)):
				default:
					if taken++; *onlyStates != "" || !gittest.All() || taken%half == 0 {
						out = append(out, c)
					}
				}
			}
			turn++
		}
	}
	return out
}

// speaks reports whether a command makes sense in a state: git itself refuses to push a detached HEAD without a name, and to merge
// unrelated histories.
func speaks(speaker string, s gitState) bool {
	switch {
	case strings.HasPrefix(speaker, "git push"):
		return s.name != "detached" && s.name != "bisect" && s.name != "unborn"
	case strings.HasPrefix(speaker, "git merge"):
		return s.name != "unborn" && s.name != "shallow"
	}
	return true
}

// TestStates runs, for every state of git and everything that can be wrong with a log there, a command that has something to say, and then
// types literally all that it says to type. After at most two rounds it is silent, git has finished what it had begun, nothing is lost or
// there twice, and the commits of others are unchanged and in place. Only a sample runs unless the flag -states asks for more: see cells.
func TestStates(t *testing.T) {
	gittest.Long(t)
	w := newWorlds(t)
	var all sync.Mutex
	found, persons := map[string]int{}, map[string]int{}
	chosen := cells(t)
	t.Run("all", func(t *testing.T) {
		for _, c := range chosen {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				a := newTypist(t, w, c)
				a.run()
				all.Lock()
				defer all.Unlock()
				for _, why := range slices.Sorted(maps.Keys(a.persons)) {
					persons[why]++
				}
				for _, p := range a.problems {
					kind, _, _ := strings.Cut(p, ":")
					found[kind]++
				}
				a.report()
			})
		}
	})
	t.Logf("%d cells; a person had to go on in some: %v", len(chosen), fmt.Sprint(persons))
	if len(found) > 0 {
		t.Logf("%v", found)
	}
}

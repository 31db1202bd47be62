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

	"github.com/small-gate/small-gate/internal/gittest"
)

// onlyStates chooses cells of the matrix by STATE/WRONG/COMMAND.
var onlyStates = flag.String("states", "", "what TestStates tries, as a regular expression of STATE/WRONG/COMMAND; `.` is the whole matrix")

// shortStates are the cells that are always tried.
var shortStates = []string{
	"merge/marked_as_it_is/go on", "merge_no_commit/modified/go on", "rebase/deleted/small-hook reconcile", "published/committed_edit/small-hook audit",
	"lock/modified_unstaged/small-hook restore",
}

// leftOut are cells that are not tried, and why. Nothing is lost in them, but who only types does not get through.
var leftOut = map[string]string{
	`/committed_(too_early|no_log)/small-hook (check|append|replay-id --write|baseline|reconcile origin)`: "what judges or writes files does not know that a commit has them: audit names what mends it",
	`/committed_yaml/small-hook (append|restore|reconcile origin)`:                                        "what judges or writes files does not know that a commit has them: audit names what mends it",
	`^shallow/committed_`: "a shallow clone hides what a commit is made again from",
	`^(squash|squash_clean|pick_no_commit)/.*/(small-hook sync|git push)`: "sync asks for a stash, which git pops into a conflict",
	`^merge_edited/took_theirs/small-hook guard`:                          "git merge --abort refuses where index and work tree differ",
}

// cell is one place of the matrix.
type cell struct {
	gitState
	wrong
	speaker string
}

func (c cell) String() string { return c.gitState.name + "/" + c.wrong.name + "/" + c.speaker }

// cells are those of the matrix that are tried: a few; with the long tests one for each state and wrong, with the commands in turn; or
// those that the flag chooses.
func cells(t *testing.T) (out []cell) {
	t.Helper()
	only, err := regexp.Compile(*onlyStates)
	if err != nil {
		t.Fatal(err)
	}
	turn, left := 0, map[string]int{}
	defer func() { t.Logf("left out of the whole matrix: %v", left) }()
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
				why := leftOutFor(c)
				switch {
				case *onlyStates == "" && why != "":
					left[why]++
				case *onlyStates != "" && !only.MatchString(c.String()):
				case *onlyStates == "" && !slices.Contains(shortStates, c.String()) && (!gittest.All() || turn%5 != 0 || i != turn%len(speakers)):
				default:
					out = append(out, c)
				}
			}
			turn++
		}
	}
	return out
}

func leftOutFor(c cell) string {
	for pattern, why := range leftOut {
		if regexp.MustCompile(pattern).MatchString(c.String()) {
			return why
		}
	}
	return ""
}

// speaks reports whether a command is one for a state: git itself does not let a detached HEAD be pushed without a name, nor unrelated
// histories be merged.
func speaks(speaker string, s gitState) bool {
	switch {
	case strings.HasPrefix(speaker, "git push"):
		return s.name != "detached" && s.name != "bisect" && s.name != "unborn"
	case strings.HasPrefix(speaker, "git merge"):
		return s.name != "unborn" && s.name != "shallow"
	}
	return true
}

// TestStates types, in every state that git can be in and with everything that can be wrong with a log there, a command that has something
// to say, and then literally all that it says to type. After at most two rounds nothing is left to say, what git had begun is ended,
// nothing is lost and nothing is there twice, and the commits of others are theirs and where they were.
func TestStates(t *testing.T) {
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

package logs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// Disorder is a new file that sorts before an existing one in its folder, or has the same number.
type Disorder struct {
	rule.Place
	Run *run.Run
	// File is the new one, Before the path that it has to sort after.
	File   history.File
	Before string
	// Tips are the names of two branches, if only the two together are out of order.
	Tips [2]string
}

// OutOfOrder is append-only/out-of-order: a new file sorts before an older one in its folder, or before one that the target has.
var OutOfOrder = rule.New("append-only/out-of-order", finding.SeverityError, finding.StageHistory, rule.On(checkOrder))

func checkOrder(d *Disorder, r *rule.Reporter) {
	f := finding.Finding{
		Path: d.File.Path, Line: 1, Subject: "order",
		Edits: []finding.EditKey{{Path: d.File.Path + "\x00order", To: d.File.Object}},
	}
	last := wording.Quote(path.Base(d.Before))
	if d.Tips[0] != "" {
		f.Message = fmt.Sprintf("both branches added files since they parted: %s of %s does not sort after %s of %s", path.Base(d.File.Path), d.Tips[1], path.Base(d.Before), d.Tips[0])
		f.Fix = "`git rebase " + wording.ShellWord(d.Tips[0]) + "`; then rename the branch's files so that they sort after " + last
		r.Add(f)
		return
	}
	f.Message = fmt.Sprintf("%s is new and does not sort after %s, which is there", path.Base(d.File.Path), path.Base(d.Before))
	f.Fix = "give it a name that sorts after " + last + ": "
	if history.Uncommitted(d.Commit) {
		f.Fix += "git mv it, and commit again"
	} else {
		f.Fix += d.Run.Situation(d.Commit).Correct("rename it", d.File.Path)
	}
	r.Add(f)
}

// judgeOrder finds new files that do not sort after those of their folders. A merge is in order if it is so against one of its parents, or, if it
// has landed, against the first.
func judgeOrder(ctx context.Context, r *run.Run, s *read.Step) error {
	at := slices.IndexFunc(r.Source.Policy.Logs, func(l policy.Log) bool { return l.Sorted() })
	if at < 0 || len(s.Parents) == 0 {
		return nil
	}
	defer carryLast(r, s)
	s, err := stepOf(ctx, r, s, &r.Source.Policy.Logs[at], (*policy.Log).Sorted)
	if err != nil || s == nil {
		return err
	}
	added := make([]map[string][]history.File, len(s.Changes))
	for i := range s.Changes {
		if added[i] = newFiles(r, s, i); len(added[i]) == 0 {
			return nil
		}
	}
	var wrong map[string][]*Disorder
	for i := range s.Changes {
		seen, err := disorders(ctx, r, added[i], s.Parents[i])
		if err != nil {
			return err
		}
		if i == 0 {
			wrong = seen
		}
		maps.DeleteFunc(wrong, func(folder string, _ []*Disorder) bool { return seen[folder] == nil })
	}
	return reportDisorders(ctx, r, wrong, rule.Place{Commit: s.ID, Parent: s.Parents[0]})
}

// reportDisorders has files, by folder, judged that are out of order at a place, unless that is past.
func reportDisorders(ctx context.Context, r *run.Run, wrong map[string][]*Disorder, at rule.Place) error {
	for _, folder := range slices.Sorted(maps.Keys(wrong)) {
		for _, d := range wrong[folder] {
			past, err := r.IsPast(ctx, at.Commit, d.File.Path)
			if err != nil {
				return err
			}
			if past {
				continue
			}
			d.Place, d.Run = at, r
			if err := r.Collector.Judge(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostFolders is the largest number of folders whose last files are kept for a commit.
const mostFolders = 100

// carryLast notes the last files of a commit's folders if those of its first parent are known: listing the files of each parent in a long
// history would take minutes.
func carryLast(r *run.Run, s *read.Step) {
	if len(s.Parents) == 0 {
		return
	}
	known := r.Learned.Last[s.Parents[0]]
	cloned := false
	for _, c := range s.Changes[0] {
		folder := path.Dir(c.Path)
		last, listed := known[folder]
		if !listed || !r.Source.Policy.LogFor(c.Path).Sorted() {
			continue
		}
		if !cloned {
			known, cloned = maps.Clone(known), true
		}
		switch {
		case c.New.Mode == "" && c.Path == last:
			delete(known, folder)
		case c.New.Mode != "":
			known[folder] = later(r.Source.Policy.LogFor(c.Path).Order, last, c.Path)
		}
	}
	if known != nil && len(known) <= mostFolders {
		r.Learned.Last[s.ID] = known
	}
}

// later is the one of two paths in a folder that sorts last; one may be empty.
func later(order, a, b string) string {
	if a == "" || order == policy.ByNumber && compareNumbers(path.Base(b), path.Base(a)) > 0 || order != policy.ByNumber && compareNames(path.Base(b), path.Base(a)) > 0 {
		return b
	}
	return a
}

// newFiles are the files that one edge adds to folders that are ordered by name, by folder.
func newFiles(r *run.Run, s *read.Step, edge int) map[string][]history.File {
	out := map[string][]history.File{}
	for _, c := range s.Changes[edge] {
		if c.Old.Mode == "" && r.Source.Policy.LogFor(c.Path).Sorted() && !s.MovedTo(edge, c.Path) {
			out[path.Dir(c.Path)] = append(out[path.Dir(c.Path)], c.New)
		}
	}
	return out
}

// disorders are the new files, by folder, that do not sort after each file that a parent has there.
func disorders(ctx context.Context, r *run.Run, added map[string][]history.File, parent string) (map[string][]*Disorder, error) {
	out := map[string][]*Disorder{}
	for folder, files := range added {
		last, known := r.Learned.Last[parent][folder]
		if !known {
			there, err := r.Source.Tree.List(ctx, parent, history.Matching(path.Join(policy.LiteralPattern(folder), "*")))
			if err != nil {
				return nil, err
			}
			for _, f := range there {
				if r.Source.Policy.LogFor(f.Path) == r.Source.Policy.LogFor(files[0].Path) {
					last = later(r.Source.Policy.LogFor(f.Path).Order, last, f.Path)
				}
			}
			if r.Learned.Last[parent] == nil {
				r.Learned.Last[parent] = map[string]string{}
			}
			r.Learned.Last[parent][folder] = last
		}
		if wrong := disorder(r.Source.Policy.LogFor(files[0].Path).Order, files, last); len(wrong) > 0 {
			out[folder] = wrong
		}
	}
	return out, nil
}

// disorder finds the new files of a folder that do not sort after its last one.
func disorder(order string, added []history.File, last string) []*Disorder {
	var out []*Disorder
	for i, f := range added {
		name := path.Base(f.Path)
		if last != "" && !after(order, name, path.Base(last)) {
			out = append(out, &Disorder{File: f, Before: last})
			continue
		}
		for _, other := range added[:i] {
			if order == policy.ByNumber && compareNumbers(name, path.Base(other.Path)) == 0 && !sameStem(name, path.Base(other.Path)) {
				out = append(out, &Disorder{File: f, Before: other.Path})
				break
			}
		}
	}
	return out
}

// sameStem reports whether two names agree up to the first dot, as those of the two halves of a migration do.
func sameStem(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return a == b
}

// after reports whether a new file's name sorts after another: runs of digits compare as numbers, and the rest as text. Two names with the
// same version, as migrations have it, are in no order.
func after(order, name, other string) bool {
	if order == policy.ByNumber {
		return compareNumbers(name, other) > 0
	}
	if v := version(name); v != "" && v == version(other) {
		return false
	}
	return compareNames(name, other) > 0
}

var firstNumber = expression.Of(`[0-9]+`)

// compareNumbers compares names by their first runs of digits, as numbers. A name without one comes before all others.
func compareNumbers(a, b string) int {
	x, y := strings.TrimLeft(firstNumber().FindString(a), "0"), strings.TrimLeft(firstNumber().FindString(b), "0")
	if hasX, hasY := firstNumber().MatchString(a), firstNumber().MatchString(b); hasX != hasY {
		if hasX {
			return 1
		}
		return -1
	}
	return cmp.Or(len(x)-len(y), strings.Compare(x, y))
}

var versionForm = expression.Of(`^([A-Za-z]?)0*([0-9]+)_`)

// version is the number that a migration's name begins with, and a letter before it; empty for none.
func version(name string) string {
	if m := versionForm().FindStringSubmatch(name); m != nil {
		return m[1] + m[2]
	}
	return ""
}

// compareNames compares names as texts, in which runs of digits are numbers: 9 comes before 10.
func compareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		p, q := leadingDigits(x), leadingDigits(y)
		if p == "" || q == "" {
			if c := cmp.Compare(x[0], y[0]); c != 0 {
				return c
			}
			x, y = x[1:], y[1:]
			continue
		}
		x, y = x[len(p):], y[len(q):]
		p, q = strings.TrimLeft(p, "0"), strings.TrimLeft(q, "0")
		if c := cmp.Or(len(p)-len(q), strings.Compare(p, q)); c != 0 {
			return c
		}
	}
	return cmp.Or(len(x)-len(y), strings.Compare(a, b))
}

// leadingDigits is the run of digits that a text begins with.
func leadingDigits(s string) string {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return s[:n]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

package logs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/expression"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/wording"
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

// OutOfOrder is append-only/out-of-order: a new file sorts before an older one in its folder.
var OutOfOrder = rule.New("append-only/out-of-order", finding.SeverityError, finding.StageHistory, rule.On(func(d *Disorder, r *rule.Reporter) {
	if d.Tips[0] != "" {
		return
	}
	f := d.finding()
	f.Message = fmt.Sprintf("%s is new and does not sort after %s, which stands there", path.Base(d.File.Path), path.Base(d.Before))
	s := d.Run.Situation(d.Commit)
	f.Fix = "give it a name that sorts after " + wording.Quote(path.Base(d.Before)) + ": "
	if history.Uncommitted(d.Commit) {
		f.Fix += "git mv it, and commit again"
	} else {
		f.Fix += s.Correct("rename it", d.File.Path)
	}
	r.Add(f)
}))

func (d *Disorder) finding() finding.Finding {
	return finding.Finding{
		Path: d.File.Path, Line: 1, Subject: "order",
		Edits: []finding.EditKey{{Path: d.File.Path + "\x00order", To: d.File.Object}},
	}
}

// checkForkOrder is a check of divergence/concurrent-append.
func checkForkOrder(d *Disorder, r *rule.Reporter) {
	if d.Tips[0] == "" {
		return
	}
	f := d.finding()
	f.Message = fmt.Sprintf("both branches added files since they parted: %s of %s does not sort after %s of %s", path.Base(d.File.Path), d.Tips[1], path.Base(d.Before), d.Tips[0])
	f.Fix = "`git rebase " + wording.ShellWord(d.Tips[0]) + "`; then rename the branch's files, each in the commit that brings it, so that they sort after " + wording.Quote(path.Base(d.Before))
	r.Add(f)
}

// judgeOrder finds new files that do not sort after those of their folders. A merge is in order if it is so against one of its parents.
func judgeOrder(ctx context.Context, r *run.Run, s *read.Step) error {
	if !slices.ContainsFunc(r.Source.Policy.Logs, func(l policy.Log) bool { return l.ByName() }) {
		return nil
	}
	defer carryLast(r, s)
	added := make([]map[string][]history.File, len(s.Parents))
	for i := range s.Parents {
		if added[i] = newFiles(r, s, i); len(added[i]) == 0 {
			return nil
		}
	}
	var wrong map[string][]*Disorder
	for i, parent := range s.Parents {
		seen, err := disorders(ctx, r, added[i], parent)
		if err != nil {
			return err
		}
		if i == 0 {
			wrong = seen
		}
		maps.DeleteFunc(wrong, func(folder string, _ []*Disorder) bool { return seen[folder] == nil })
	}
	for _, folder := range slices.Sorted(maps.Keys(wrong)) {
		for _, d := range wrong[folder] {
			past, err := r.IsPast(ctx, s.ID, d.File.Path)
			if err != nil {
				return err
			}
			if past {
				continue
			}
			d.Place, d.Run = rule.Place{Commit: s.ID, Parent: s.Parents[0]}, r
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
		if !listed || !r.Source.Policy.LogFor(c.Path).ByName() {
			continue
		}
		if !cloned {
			known, cloned = maps.Clone(known), true
		}
		switch {
		case c.New.Mode == "" && c.Path == last:
			delete(known, folder)
		case c.New.Mode != "":
			known[folder] = later(last, c.Path)
		}
	}
	if known != nil && len(known) <= mostFolders {
		r.Learned.Last[s.ID] = known
	}
}

// later is the one of two paths in a folder that sorts last; one may be empty.
func later(a, b string) string {
	if a == "" || compareNames(path.Base(b), path.Base(a)) > 0 {
		return b
	}
	return a
}

// newFiles are the files that one edge adds to folders that are ordered by name, by folder.
func newFiles(r *run.Run, s *read.Step, edge int) map[string][]history.File {
	out := map[string][]history.File{}
	for _, c := range s.Changes[edge] {
		if c.Old.Mode == "" && r.Source.Policy.LogFor(c.Path).ByName() && !s.MovedTo(edge, c.Path) {
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
					last = later(last, f.Path)
				}
			}
			if r.Learned.Last[parent] == nil {
				r.Learned.Last[parent] = map[string]string{}
			}
			r.Learned.Last[parent][folder] = last
		}
		if wrong := disorder(files, last); len(wrong) > 0 {
			out[folder] = wrong
		}
	}
	return out, nil
}

// disorder finds the new files of a folder that do not sort after its last one.
func disorder(added []history.File, last string) []*Disorder {
	var out []*Disorder
	for _, f := range added {
		if last != "" && !after(path.Base(f.Path), path.Base(last)) {
			out = append(out, &Disorder{File: f, Before: last})
		}
	}
	return out
}

// compareOrder compares the files that two branches added to folders that are ordered by name.
func compareOrder(ctx context.Context, r *run.Run, target, head history.Tip, changes []history.Change) error {
	ours, theirs := map[string]string{}, map[string][]history.File{}
	for _, c := range changes {
		switch folder := path.Dir(c.Path); {
		case !r.Source.Policy.LogFor(c.Path).ByName():
		case c.Old.Mode == "":
			theirs[folder] = append(theirs[folder], c.New)
		case c.New.Mode == "":
			ours[folder] = later(ours[folder], c.Path)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(theirs)) {
		for _, d := range disorder(theirs[folder], ours[folder]) {
			d.Place, d.Run, d.Tips = rule.Place{Commit: head.ID, Parent: target.ID}, r, [2]string{target.Name, head.Name}
			if err := r.Collector.Judge(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// after reports whether a new file's name sorts after another: runs of digits compare as numbers, and the rest as text. Two names with the
// same version, as migrations have it, are in no order.
func after(name, other string) bool {
	if v := version(name); v != "" && v == version(other) {
		return false
	}
	return compareNames(name, other) > 0
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

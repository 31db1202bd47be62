package appendonly

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
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// unsorted is a new file that sorts before an existing one in its folder, or has the same number.
type unsorted struct {
	// file is the new one; existing is the path that it has to sort after.
	file     history.File
	existing string
}

// checkOrder reports files that a commit adds and that do not sort after the files in their folders. In a merge the new files have to sort after
// those of one parent, whichever it is. For commits that have landed, StepOf returns only the edge to the first parent.
func checkOrder(ctx context.Context, c *logs.Commit, r *rule.Reporter) error {
	at := slices.IndexFunc(c.Run.Source.Policy.Logs, func(l policy.Log) bool { return l.Sorted() })
	if at < 0 || len(c.Parents) == 0 {
		return nil
	}
	defer keepLastFiles(c.Run, c.Step)
	s, err := logs.StepOf(ctx, c.Run, c.Step, &c.Run.Source.Policy.Logs[at], (*policy.Log).Sorted)
	if err != nil || s == nil {
		return err
	}
	added := make([]map[read.FolderLog][]history.File, len(s.Changes))
	for i := range s.Changes {
		if added[i] = newFiles(c.Run, s.Changes[i]); len(added[i]) == 0 {
			return nil
		}
	}
	var wrong map[read.FolderLog][]unsorted
	for i := range s.Changes {
		seen, err := findUnsorted(ctx, c.Run, added[i], s.Parents[i], s.Changes[i], func(path string) bool { return s.MovedTo(i, path) })
		if err != nil {
			return err
		}
		if i == 0 {
			wrong = seen
		}
		maps.DeleteFunc(wrong, func(folder read.FolderLog, _ []unsorted) bool { return seen[folder] == nil })
	}
	var fixes map[string]string
	if s := c.Run.Situation(r.Commit); history.Uncommitted(r.Commit) || s.Last && s.Standing == history.Own {
		fixes = renameFixes(c.Run, r.Commit, wrong, added[0], "--amend --no-edit")
	}
	return reportUnsorted(ctx, c.Run, r, wrong, fixes, history.Tip{ID: s.Parents[0]})
}

// checkBranchOrder reports files that only the branch has and that do not sort after those of the merge bases and of the target.
func checkBranchOrder(ctx context.Context, b *logs.Branch, r *rule.Reporter) error {
	added := map[read.FolderLog][]history.File{}
	// Files of earlier commits, which are not judged, come first: of two files with one number the later one is reported, and it has to be a judged one.
	earlier := slices.DeleteFunc(slices.Clone(b.ChangesByBase[0]), func(c history.Change) bool { return b.Judges(c.Path) })
	judged := slices.DeleteFunc(slices.Clone(b.ChangesByBase[0]), func(c history.Change) bool { return !b.Judges(c.Path) })
	for _, c := range slices.Concat(earlier, judged) {
		if b.Run.Source.Policy.LogFor(c.Path).Sorted() && b.IsNew(c.Path) && b.TargetLacks(c.Path) {
			folder := b.Run.Source.FolderLogOf(c.Path)
			added[folder] = append(added[folder], c.New)
		}
	}
	seen := map[string]bool{}
	for _, tip := range b.Against {
		if tip.ID == "" {
			continue
		}
		wrong, err := findUnsorted(ctx, b.Run, added, tip.ID, b.ChangesByBase[0], func(string) bool { return false })
		if err != nil {
			return err
		}
		for folder, all := range wrong {
			wrong[folder] = slices.DeleteFunc(all, func(d unsorted) bool { return seen[d.file.Path] || !b.Judges(d.file.Path) })
			for _, d := range wrong[folder] {
				seen[d.file.Path] = true
			}
		}
		if err := reportUnsorted(ctx, b.Run, r, wrong, renameFixes(b.Run, r.Commit, wrong, added, "-m 'Rename files'"), tip); err != nil {
			return err
		}
	}
	return nil
}

// reportUnsorted reports files, by folder, that do not sort after those of the tip other, unless a since commit accepts them. fixes has fixes by
// path. other has a name if it is the tip of another branch: then each branch is in order, and only their merge is not.
func reportUnsorted(ctx context.Context, in *run.Run, r *rule.Reporter, wrong map[read.FolderLog][]unsorted, fixes map[string]string, other history.Tip) error {
	for _, folder := range slices.SortedFunc(maps.Keys(wrong), read.FolderLog.Compare) {
		for _, d := range wrong[folder] {
			past, err := in.IsAcceptedPast(ctx, r.Commit, d.file.Path)
			if err != nil {
				return err
			}
			if !past && other.Name == "" {
				past, err = logs.IsAddedByRewrite(ctx, in, other.ID, r.Commit, d.file)
			}
			if err != nil {
				return err
			}
			if past {
				continue
			}
			f := finding.Finding{
				Path: d.file.Path, Line: 1, Subject: "order", Commit: r.Commit, Parent: other.ID,
				Edits: []finding.EditKey{{Path: d.file.Path + "\x00order", To: d.file.Object}},
			}
			name, last := path.Base(d.file.Path), path.Base(d.existing)
			if other.Name != "" {
				f.Message = fmt.Sprintf("both branches added files since they parted: %s of %s does not sort after %s of %s", name, logs.NameTip(in.Scope.Tip), last, other.Name)
			}
			switch {
			case fixes[d.file.Path] != "":
				f.Fix = fixes[d.file.Path]
			case other.Name != "":
				onto := other.Name
				if onto == "HEAD" { // on the branch, HEAD is another commit
					onto = history.Short(other.ID)
				}
				f.Fix = "`git rebase " + wording.ShellWord(onto) + "`; then rename the branch's files so that they sort after " + wording.Quote(last)
			case history.Uncommitted(r.Commit):
				f.Fix = "git mv it, and commit again"
			default:
				f.Fix = renameFix(in.Situation(r.Commit), d.file.Path)
			}
			if other.Name == "" {
				f.Message = fmt.Sprintf("%s is new and does not sort after %s, which is there", name, last)
			}
			if other.Name == "" && (history.Uncommitted(r.Commit) || in.Situation(r.Commit).Standing != history.Landed) {
				f.Fix = "give it a name that sorts after " + wording.Quote(last) + ": " + f.Fix
			}
			r.Add(f)
		}
	}
	return nil
}

// renameFix returns the fix for a committed file that is out of order. A branch may rename it until it has landed; after that, only a since commit
// accepts it.
func renameFix(s remedy.Situation, path string) string {
	switch {
	case s.Standing == history.Landed:
		return s.AcceptSince()
	case s.Standing == history.Own && s.Last:
		return "rename it with git mv, and put that into the last commit, which nobody else has: " + wording.Commands("git commit --amend --no-edit")
	case s.Standing == history.Own:
		return s.Correct("rename it", path)
	}
	return "rename it with git mv, in a new commit"
}

// mostFolders is the largest number of folders whose last files are kept for a commit.
const mostFolders = 100

// keepLastFiles computes the last file of each folder of a commit from those of its first parent, if they are known. Listing the files of each
// parent in a long history would take minutes.
func keepLastFiles(r *run.Run, s *read.Step) {
	if len(s.Parents) == 0 {
		return
	}
	known := r.Learned.LastFiles[s.Parents[0]]
	cloned := false
	for _, c := range s.Changes[0] {
		folder := r.Source.FolderLogOf(c.Path)
		last, listed := known[folder]
		if !listed {
			continue
		}
		if !cloned {
			known, cloned = maps.Clone(known), true
		}
		switch {
		case c.New.Mode == "" && c.Path == last:
			delete(known, folder)
		case c.New.Mode != "":
			known[folder] = lastOf(folder.Stanza.Order, last, c.Path)
		}
	}
	if known != nil && len(known) <= mostFolders {
		r.Learned.LastFiles[s.ID] = known
	}
}

// lastOf returns the one of two paths in a folder that sorts last; one may be empty.
func lastOf(order, a, b string) string {
	if a == "" || order == policy.ByNumber && compareNumbers(path.Base(b), path.Base(a)) > 0 || order != policy.ByNumber && compareNames(path.Base(b), path.Base(a)) > 0 {
		return b
	}
	return a
}

// newFiles returns, by folder, the files that one edge adds to folders with an order.
func newFiles(r *run.Run, edge []history.Change) map[read.FolderLog][]history.File {
	out := map[read.FolderLog][]history.File{}
	for _, c := range edge {
		if folder := r.Source.FolderLogOf(c.Path); c.Old.Mode == "" && folder.Stanza.Sorted() {
			out[folder] = append(out[folder], c.New)
		}
	}
	return out
}

// findUnsorted returns, by folder, the new files that do not sort after every file that a parent has there and that the changes do not drop: a file
// that is dropped was open, or is reported. Files that moved, with their folder, to one that the parent lacks keep their order.
func findUnsorted(ctx context.Context, r *run.Run, added map[read.FolderLog][]history.File, parent string, changes []history.Change, moved func(path string) bool) (map[read.FolderLog][]unsorted, error) {
	out := map[read.FolderLog][]unsorted{}
	for folder, files := range added {
		last, err := lastFileOf(ctx, r, parent, folder, changes)
		if err != nil {
			return nil, err
		}
		if last == "" {
			files = slices.DeleteFunc(slices.Clone(files), func(f history.File) bool { return moved(f.Path) })
		}
		if len(files) == 0 {
			continue
		}
		if wrong := unsortedIn(folder.Stanza.Order, files, last); len(wrong) > 0 {
			out[folder] = wrong
		}
	}
	return out, nil
}

// lastFileOf returns the path of the last file that a commit has in a folder, without those that the changes drop; empty if there is none.
func lastFileOf(ctx context.Context, r *run.Run, commit string, folder read.FolderLog, changes []history.Change) (last string, err error) {
	dropped := func(path string) bool {
		c, changed := history.ChangeAt(changes, path)
		return changed && c.New.Mode == ""
	}
	if last, known := r.Learned.LastFiles[commit][folder]; known && !dropped(last) {
		return last, nil
	}
	there, err := r.Source.Tree.List(ctx, commit, history.Matching(path.Join(policy.LiteralPattern(folder.Folder), "*")))
	if err != nil {
		return "", err
	}
	all := true
	for _, f := range there {
		switch {
		case r.Source.FolderLogOf(f.Path) != folder:
		case dropped(f.Path):
			all = false
		default:
			last = lastOf(folder.Stanza.Order, last, f.Path)
		}
	}
	if all {
		own := map[read.FolderLog]string{}
		maps.Copy(own, r.Learned.LastFiles[commit]) // other commits share that one
		own[folder] = last
		r.Learned.LastFiles[commit] = own
	}
	return last, nil
}

// unsortedIn returns the new files of a folder that do not sort after its last one, or that have the number of another new file.
func unsortedIn(order string, added []history.File, last string) []unsorted {
	var out []unsorted
	for i, f := range added {
		name := path.Base(f.Path)
		if last != "" && !sortsAfter(order, name, path.Base(last)) {
			out = append(out, unsorted{file: f, existing: last})
			continue
		}
		for _, other := range added[:i] {
			if order == policy.ByNumber && compareNumbers(name, path.Base(other.Path)) == 0 && !sameStem(name, path.Base(other.Path)) {
				out = append(out, unsorted{file: f, existing: other.Path})
				break
			}
		}
	}
	return out
}

// sameStem reports whether two names agree up to the first dot, as 0012_users.up.sql and 0012_users.down.sql do.
func sameStem(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return a == b
}

// sortsAfter reports whether a new file's name sorts after another: runs of digits compare as numbers, and the rest as text. Of two migrations
// with the same version neither sorts after the other.
func sortsAfter(order, name, other string) bool {
	if order == policy.ByNumber {
		return compareNumbers(name, other) > 0
	}
	if v := migrationVersion(name); v != "" && v == migrationVersion(other) {
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

var (
	// dateForm matches a date whose parts underscores join.
	dateForm = expression.Of(`^[A-Za-z]?[0-9]{4}_[0-9]{2}_[0-9]{2}`)
	// versionForm matches a number, or the numbers that stand before two underscores in names of Flyway.
	versionForm = expression.Of(`^([A-Za-z]?)0*([0-9]+(?:_[0-9]+)*_|[0-9]+)_`)
)

// migrationVersion returns the version that a migration's name begins with, after a letter if it has one, as in V12_, V1_2__ or 0012_; empty for none.
func migrationVersion(name string) string {
	if m := versionForm().FindStringSubmatch(name); m != nil && !dateForm().MatchString(name) {
		return m[1] + strings.TrimSuffix(m[2], "_")
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

// leadingDigits returns the run of digits that a text begins with.
func leadingDigits(s string) string {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return s[:n]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

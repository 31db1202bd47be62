// Package evidence judges whether the commit that an entry names exists, and whether an agent's work is recorded in a log.
package evidence

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
)

func checkUnknownCommit(ctx context.Context, e *logs.LogChange, r *rule.Reporter) error {
	if e.Run.Options.Reach == nil {
		return nil
	}
	names := sync.OnceValues(func() (*logNames, error) { return findNames(ctx, e) })
	for _, index := range e.NewEntries {
		entry := e.New.Entries[index]
		if len(entry.Commit) < shortID || len(entry.Commit) > 40 || !history.IsHex(entry.Commit) {
			continue // none, or another rule's concern
		}
		if e.Run.Scope.Whole && e.Run.Learned.JudgesCommit(entry.Commit) {
			continue // the tip's history has it, and to ask git for each entry of a long log would take long
		}
		reach, err := e.Run.Options.Reach(ctx, entry.Commit, reachedFrom(e))
		if err != nil {
			return err
		}
		if reach.Reached || reach.Unknown {
			continue
		}
		elsewhere, err := namesOtherProject(ctx, e, entry, names)
		if err == nil && !elsewhere {
			err = reportUnknown(ctx, e, r, entry, reach.Commit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reachedFrom returns the commits from which a named commit has to be reachable: the judged commit and the tip; before a commit is made, its parents.
func reachedFrom(e *logs.LogChange) []string {
	if s := e.Run.Scope; history.Uncommitted(e.Commit) {
		return s.Parents
	} else if s.Tip.ID != "" && !history.Uncommitted(s.Tip.ID) {
		return []string{e.Commit, s.Tip.ID}
	}
	return []string{e.Commit}
}

// logNames are the beginnings of what the text of a log names after a slash or an at sign, as far as they may begin a commit's id.
type logNames struct {
	file history.File
	// beginnings have shortID hex digits each. hidden is true if the text may spell more of them with escapes.
	beginnings map[string]bool
	hidden     bool
}

// shortID is how many digits of a commit's id a name of it has at least.
const shortID = 7

// findNames finds the names in the text of a changed log; nil if that cannot be read.
func findNames(ctx context.Context, e *logs.LogChange) (*logNames, error) {
	src := e.Run.Source
	files, err := src.Tree.List(ctx, e.Commit, history.At(e.Path))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	data, problem, err := read.ReadFile(ctx, src.Tree, files[0], src.Limits)
	if err != nil || problem != nil {
		return nil, err
	}
	out := &logNames{file: files[0], beginnings: map[string]bool{}}
	for _, before := range []byte{'/', '@', '\\'} {
		for rest := data; ; {
			at := bytes.IndexByte(rest, before)
			if at < 0 {
				break
			}
			rest = rest[at+1:]
			beginning := string(rest[:min(shortID, len(rest))])
			switch {
			case before == '\\':
				out.hidden = out.hidden || beginning != "" && strings.ContainsAny(beginning[:1], "xuU\r\n")
			case history.IsHex(beginning):
				out.beginnings[beginning] = true
			}
		}
	}
	return out, nil
}

// namesOtherProject reports whether an entry says that its commit is another project's: by a link to it, or as OWNER/NAME@COMMIT. It parses the log only
// if its text, whose names are given, may say so.
func namesOtherProject(ctx context.Context, e *logs.LogChange, entry ledger.Entry, names func() (*logNames, error)) (bool, error) {
	found, err := names()
	if err != nil || found == nil || !found.hidden && !found.beginnings[entry.Commit[:shortID]] {
		return false, err
	}
	values, err := e.Run.Source.ReaderOf(e.Path).Records(ctx, found.file)()
	if err != nil || entry.Index >= len(values) {
		return false, err
	}
	text := values[entry.Index].Canonical()
	for _, before := range []string{"/commit/", "/commits/", "@"} {
		if strings.Contains(text, before+entry.Commit[:shortID]) {
			return true, nil
		}
	}
	return false, nil
}

// reportUnknown reports a commit that is not reachable. orphan is its full id if the clone has it; else empty.
func reportUnknown(ctx context.Context, e *logs.LogChange, r *rule.Reporter, entry ledger.Entry, orphan string) error {
	f := finding.Finding{Path: e.Path, Line: entry.Pos.Line, Column: entry.Pos.Column, Entry: finding.RefOf(entry), EditTo: entry.Digest.String()}
	what, correct := "which is no commit of this clone", "if another clone has it, push it from there; else append a correction that names the right commit"
	if orphan != "" {
		what = "to which no branch or tag leads any more, as after a rebase or a squash"
		replacement, alike, err := findReplacement(ctx, e, orphan)
		if err != nil {
			return err
		}
		if replacement != "" {
			what += fmt.Sprintf("; commit %s has the same %s", history.Short(replacement), alike)
			correct = correctionCommands(e, entry, replacement)
		}
	}
	f.Message = fmt.Sprintf("%s names commit %s, %s", ledger.Describe(entry), entry.Commit, what)
	if f.Fix = correct; history.Uncommitted(e.Commit) {
		f.Fix = "write the right commit into the entry, which is not committed yet, or leave it out"
	}
	r.Add(f)
	return nil
}

// maxCandidates is the number of commits among which a replacement is looked for.
const maxCandidates = 1000

// findReplacement returns the commit of the judged change that replaces another one: it makes the same patch or, as after a rebase with
// conflicts, has the same author, time and title. alike says which. A whole history is no change: nothing is
// looked for in it.
func findReplacement(ctx context.Context, e *logs.LogChange, orphan string) (id, alike string, err error) {
	if e.Run.Scope.Whole {
		return "", "", nil
	}
	src, commits := e.Run.Source, e.Run.Learned.Commits
	commits = commits[:min(len(commits), maxCandidates)]
	if e.Run.Options.SamePatch != nil && len(commits) > 0 {
		var among []string
		for _, c := range commits {
			among = append(among, c.ID)
		}
		if id, err = e.Run.Options.SamePatch(ctx, orphan, among); err != nil || id != "" {
			return id, "patch", err
		}
	}
	old, err := src.Signature(ctx, orphan)
	if err != nil {
		return "", "", err
	}
	for _, c := range commits {
		s, err := src.Signature(ctx, c.ID)
		if err != nil {
			return "", "", err
		}
		if s.Name == old.Name && s.Email == old.Email && s.Date == old.Date && s.Subject() == old.Subject() {
			return c.ID, "author, time and title", nil
		}
	}
	return "", "", nil
}

// correctionCommands returns the commands that record which commit an entry means.
func correctionCommands(e *logs.LogChange, entry ledger.Entry, commit string) string {
	words := fmt.Sprintf("correction of %s: the commit is %s, not %s", entry.Timestamp, commit, entry.Commit)
	return appendCommands(e.Path, e.Commit, entry.TaskID, words, "--commit "+commit)
}

// appendCommands returns the commands that append an entry to a log and commit it. commit is the judged commit.
func appendCommands(log, commit, task, evidence string, more ...string) string {
	command := []string{"small-hook append" + remedy.InDirectory(log), "--task", wording.ShellWord(task), "--evidence", wording.ShellQuote(evidence)}
	dir, _ := small.WorkspaceOf(log)
	return remedy.ThenCommit(commit, "Record what was done", strings.Join(append(command, more...), " "), small.Progress.Path(dir))
}

package restore

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/secret"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/gate/history"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/reconcile"
)

// Note records a log as a guarded writer left it.
type Note struct {
	// Dir is the workspace's directory, slash-separated, from the root of the work tree.
	Dir  string `json:"dir"`
	Mark Mark   `json:"mark"`
	// Log is the log's content; nil if there is no note. In the note's file it follows the line of JSON.
	Log []byte `json:"-"`
}

// Mark identifies the work tree's state in git. It changes with each git command that moves HEAD or changes the stash.
type Mark struct {
	// Branch is the current branch's full name, and Parents are the parents of the next commit.
	Branch  string   `json:"branch"`
	Parents []string `json:"parents"`
	// Reflog and Stash are the sizes of the reflogs of HEAD and of the stash, in bytes. Both are 0 without reflogs.
	Reflog int64 `json:"reflog"`
	Stash  int64 `json:"stash"`
}

// MarkOf reads the work tree's mark. parents are the parents of the next commit.
func MarkOf(ctx context.Context, repo reconcile.Repository, parents []string) (m Mark, err error) {
	m.Parents = parents
	if m.Branch, err = repo.CurrentBranch(ctx); err != nil {
		return m, err
	}
	for name, size := range map[string]*int64{headLog(repo.Where()): &m.Reflog, filepath.Join(repo.Where().CommonDir, "logs", "refs", "stash"): &m.Stash} {
		info, err := os.Stat(name)
		switch {
		case err == nil:
			*size = info.Size()
		case !errors.Is(err, fs.ErrNotExist):
			return m, cannotReadLog(err)
		}
	}
	return m, nil
}

func headLog(place githistory.Place) string { return filepath.Join(place.GitDir, "logs", "HEAD") }

func cannotReadLog(err error) error {
	return &failure.Error{Message: "cannot read a reflog: " + err.Error(), Remedy: "make the git directory readable", Err: err}
}

// commitLine matches a reflog line of a command that only adds a commit to HEAD and leaves uncommitted changes alone.
var commitLine = expression.Of(`^([0-9a-f]+) ([0-9a-f]+) [^\t]*\t(commit( \((initial|merge|cherry-pick)\))?|cherry-pick|revert|(merge|pull)[^(:]*):`)

var resetLine = expression.Of(`^([0-9a-f]+) ([0-9a-f]+) [^\t]*\treset: moving to [^\n]*\n?$`)

// resetToID matches a line of git reset that names an id: git itself writes such a line when it aborts a cherry-pick, for example.
var resetToID = expression.Of(`\treset: moving to [0-9a-f]{40,64}\n?$`)

// isResetInPlace reports whether a reflog line records a git reset to the current commit: as git checkout does, it discards changes on
// request. A reset during a merge does not count: it gives up the other side.
func isResetInPlace(line string, from Mark) bool {
	m := resetLine().FindStringSubmatch(line)
	return m != nil && m[1] == m[2] && len(from.Parents) == 1 && !resetToID().MatchString(line)
}

// commitsBetween lists the commits that HEAD was at between two marks, oldest first. It returns nil if git has done more than commit: then
// uncommitted entries may be gone for good reasons.
func commitsBetween(place githistory.Place, from, to Mark) ([]string, error) {
	at, end := history.FirstOf(from.Parents), history.FirstOf(to.Parents)
	commits := []string{at}
	if from.Branch != to.Branch || from.Stash != to.Stash || from.Reflog > to.Reflog {
		return nil, nil
	}
	if from.Reflog == to.Reflog {
		if !slices.Equal(from.Parents, to.Parents) {
			return nil, nil
		}
		return commits, nil
	}
	file, err := os.Open(headLog(place))
	if err != nil {
		return nil, cannotReadLog(err)
	}
	lines, err := io.ReadAll(io.NewSectionReader(file, from.Reflog, to.Reflog-from.Reflog))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, cannotReadLog(err)
	}
	for line := range strings.Lines(string(lines)) {
		if isResetInPlace(line, from) {
			continue
		}
		m := commitLine().FindStringSubmatch(line)
		if m == nil || m[1] != at && (at != "" || strings.Trim(m[1], "0") != "") {
			return nil, nil
		}
		at = m[2]
		commits = append(commits, at)
	}
	if at != end || len(to.Parents) > 1 {
		return nil, nil
	}
	return commits, nil
}

const noteName = "noted"

func (w *Workspace) noteFile() string { return filepath.Join(w.Kept, noteName) }

// WriteNote writes the note on the log as it is now. If the file is not a log, it only removes the old note.
func (w *Workspace) WriteNote(mark Mark) error {
	if !w.isWorkspaceLog() {
		return nil // configured logs have no notes: only committed entries count
	}
	data, err := w.Read()
	if err != nil {
		return err
	}
	note, err := w.prepareNote(mark, data)
	if err == nil && note != nil {
		err = note.Finish()
	}
	return w.wrapNoteError(err)
}

// wrapNoteError returns the failure to write a note on a log that was itself written; nil for nil.
func (w *Workspace) wrapNoteError(err error) error {
	if err == nil {
		return nil
	}
	return &failure.Error{
		Message: w.Log() + " stays as it is now, but the note on it could not be written, so a loss of its entries would go unnoticed: " + err.Error(),
		Remedy:  "make room in the git directory, and make it writable", Err: err,
	}
}

// prepareNote prepares the note on the log's next content. If that content must not be noted, it removes the old note and returns nil.
func (w *Workspace) prepareNote(mark Mark, data []byte) (*wholefile.Prepared, error) {
	// A log with a credential is not copied into a note. The next guarded command then compares with HEAD alone.
	if log, _ := w.parse(data); log == nil || len(secret.Find(string(data))) > 0 || slices.ContainsFunc(log.Entries, ledger.HasCredential) {
		return nil, os.RemoveAll(w.noteFile())
	}
	text, err := Note{Dir: w.Dir, Mark: mark, Log: data}.text()
	if err != nil {
		return nil, err
	}
	return wholefile.Prepare(w.noteFile(), text, 0o600)
}

func (n Note) text() ([]byte, error) {
	head, err := json.Marshal(n)
	return slices.Concat(head, []byte("\n"), n.Log), err
}

// ReadNote reads the note on the log. Its Log is nil if there is no note or a damaged one.
func (w *Workspace) ReadNote() (Note, error) {
	return readNote(w.noteFile(), func(n Note) bool { return n.Dir == w.Dir })
}

// readNote reads a note's file. The note's Log is nil if there is no file, if the file is damaged, or if isAboutLog rejects the note.
func readNote(name string, isAboutLog func(Note) bool) (n Note, err error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	var text []byte
	if err == nil {
		// Read the first line alone first: it names the workspace, and the rest of another workspace's note may be large.
		if line, readErr := bufio.NewReaderSize(file, 64<<10).ReadSlice('\n'); readErr == nil && json.Unmarshal(line, &n) == nil && isAboutLog(n) {
			text, err = os.ReadFile(name)
		}
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return n, &failure.Error{Message: "cannot read the note on a log: " + err.Error(), Remedy: "make the git directory readable", Err: err}
	}
	if line, log, found := bytes.Cut(text, []byte("\n")); found && json.Unmarshal(line, &n) == nil && isAboutLog(n) {
		n.Log = log
	}
	return n, nil
}

// RecordedLog returns as all the log that the work tree's log must continue: head, which is HEAD's log, and then the entries of the note n that head
// lacks, if n still counts. noted is the note's log; it is nil if n does not count, and head if all entries of n are committed.
func (w *Workspace) RecordedLog(ctx context.Context, repo reconcile.Repository, n Note, mark Mark, head []byte) (all, noted []byte, err error) {
	if sound, _ := w.parse(n.Log); sound == nil {
		return head, nil, nil // in a conflict, for example
	}
	commits, err := commitsBetween(w.Place, n.Mark, mark)
	if err != nil || commits == nil {
		return head, nil, err
	}
	if len(commits) > 1 {
		if left, err := w.findUncommitted(ctx, repo, n, commits); err != nil || len(left) == 0 {
			return head, head, err
		}
	}
	return w.joinLogs(head, n.Log), n.Log, nil
}

// joinLogs appends to a log the entries that only other has. An entry whose time is not allowed gets a later time: otherwise the entry would be put back
// again and again, and nobody could commit it.
func (w *Workspace) joinLogs(log, other []byte) []byte {
	accepts := func(before, after *ledger.Ledger) bool { // credentials are accepted: they may be older than the guarded command
		return w.Accepts(before, after) && combine.FirstBadTimestamp(before, after, w.Now) == nil
	}
	joined, err := w.putBackOf(log, other, accepts)
	if err != nil || joined.Text == nil {
		return other // other continues the log, or log cannot be read
	}
	return joined.Text
}

// findUncommitted lists the entries of a note that are in none of the logs and in none of the commits' logs, not even as another version.
func (w *Workspace) findUncommitted(ctx context.Context, repo reconcile.Repository, n Note, commits []string, logs ...[]byte) ([]ledger.Entry, error) {
	left := w.readEntries(n.Log).Entries
	removeThoseIn := func(log []byte) error {
		found, err := w.putBackOf(n.Log, log, w.Accepts)
		left = slices.DeleteFunc(slices.Clone(left), func(e ledger.Entry) bool {
			return !slices.ContainsFunc(found.Gone, func(gone ledger.Entry) bool { return gone.Digest == e.Digest })
		})
		return err
	}
	for _, log := range logs {
		if len(left) == 0 {
			return nil, nil
		}
		if err := removeThoseIn(log); err != nil {
			return nil, err
		}
	}
	for _, id := range slices.Backward(commits) {
		if id == "" || len(left) == 0 {
			break
		}
		log, _, err := githistory.ReadFile(ctx, repo, id, w.Log(), w.Limits.FileSize())
		if err == nil {
			err = removeThoseIn(log)
		}
		if err != nil {
			return nil, err
		}
	}
	return left, nil
}

// HeadOrMended returns the log that the work tree's log must continue. That is log, the log of the commit head. But if head lost entries and the work
// tree's log has them again, it is log with these entries: the hooks let such a log amend HEAD, unless a remote-tracking branch has head.
func (w *Workspace) HeadOrMended(ctx context.Context, repo reconcile.Repository, head string, log []byte) ([]byte, error) {
	file, err := w.Read()
	if err != nil || log == nil || bytes.HasPrefix(file, log) {
		return log, nil //nolint:nilerr // a caller that needs the file reads it again, and gets the error
	}
	now, _ := w.parse(file)
	was, _ := w.parse(log)
	if now == nil || was != nil && w.Accepts(was.Ledger, now.Ledger) {
		return log, nil
	}
	own, err := githistory.Unpublished(ctx, repo, head)
	at := slices.IndexFunc(own, func(c history.Commit) bool { return c.ID == head })
	if err != nil || at < 0 || len(own[at].Parents) != 1 {
		return log, err
	}
	before, _, err := githistory.ReadFile(ctx, repo, own[at].Parents[0], w.Log(), w.Limits.FileSize())
	if err != nil {
		return nil, err
	}
	if whole, _ := w.parse(before); whole == nil {
		return log, nil
	}
	back, err := w.putBackOf(before, log, w.Accepts)
	if mended, _ := w.parse(back.Text); err == nil && mended != nil && w.Accepts(mended.Ledger, now.Ledger) {
		return back.Text, nil
	}
	return log, err
}

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

// Note is the record of a log as a guarded writer left it.
type Note struct {
	// Dir is the workspace's directory, slash-separated, from the root of the work tree.
	Dir  string `json:"dir"`
	Mark Mark   `json:"mark"`
	// Log is the log's content; nil if there is no note. In the note's file it follows the line with the JSON.
	Log []byte `json:"-"`
}

// Mark says where the work tree stands. It changes with each git command that moves the work tree.
type Mark struct {
	// Branch is the current branch's full name, and Parents are the parents of the next commit.
	Branch  string   `json:"branch"`
	Parents []string `json:"parents"`
	// Reflog and Stash are the sizes of the reflogs of HEAD and of the stash, in bytes. Both are 0 without reflogs.
	Reflog int64 `json:"reflog"`
	Stash  int64 `json:"stash"`
}

// MarkOf is the work tree's mark. parents are the parents of the next commit.
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
	return &failure.Error{Message: "cannot look at a reflog: " + err.Error(), Remedy: "make the git directory readable", Err: err}
}

// commitLine matches a reflog line of a command that only adds a commit to HEAD and leaves uncommitted changes alone.
var commitLine = expression.Of(`^([0-9a-f]+) ([0-9a-f]+) [^\t]*\t(commit( \((initial|merge|cherry-pick)\))?|cherry-pick|revert|(merge|pull)[^(:]*):`)

// resetLine matches a reflog line of git reset. Git itself resets to a commit's id, to abort a cherry-pick, say.
var resetLine = expression.Of(`^([0-9a-f]+) ([0-9a-f]+) [^\t]*\treset: moving to [^\n]*\n?$`)

// resetToID matches such a line that names an id.
var resetToID = expression.Of(`\treset: moving to [0-9a-f]{40,64}\n?$`)

// isResetInPlace reports whether a reflog line is that of a git reset to the commit that was checked out: what it takes away, it takes away on
// request, as git checkout does. In a merge it gives up the other side.
func isResetInPlace(line string, from Mark) bool {
	m := resetLine().FindStringSubmatch(line)
	return m != nil && m[1] == m[2] && len(from.Parents) == 1 && !resetToID().MatchString(line)
}

// commitsBetween lists the commits at which HEAD was between two marks, oldest first. It is nil if git has done more to the work tree than commit:
// then uncommitted entries may be gone for good reasons.
func commitsBetween(place githistory.Place, from, to Mark) ([]string, error) {
	at, end := headCommit(from), headCommit(to)
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

func headCommit(m Mark) string {
	if len(m.Parents) == 0 {
		return ""
	}
	return m.Parents[0]
}

const noteName = "noted"

func (w *Workspace) noteFile() string { return filepath.Join(w.Kept, noteName) }

// WriteNote records the log as it is now. If it cannot be read as a log, nothing is recorded, and an old note is removed.
func (w *Workspace) WriteNote(mark Mark) error {
	if w.At != "" {
		return nil // of logs of the configuration, what is committed counts
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

// wrapNoteError is the failure for a log that is as it should be, but could not be noted; nil for nil.
func (w *Workspace) wrapNoteError(err error) error {
	if err == nil {
		return nil
	}
	return &failure.Error{
		Message: w.Log() + " stays as it is now, but what is in it could not be noted, so that a loss would not be noticed: " + err.Error(),
		Remedy:  "make room in the git directory, and make it writable", Err: err,
	}
}

// prepareNote prepares the note on the log's next content. It is nil if there is nothing to note; then it has removed an old note.
func (w *Workspace) prepareNote(mark Mark, data []byte) (*wholefile.Prepared, error) {
	// A log with a credential is not copied: the next guarded command then compares with HEAD alone.
	if log, _ := w.parse(data); log == nil || len(secret.Find(string(data))) > 0 || slices.ContainsFunc(log.Entries, ledger.HasCredential) {
		return nil, os.RemoveAll(w.noteFile())
	}
	text, err := Note{Dir: w.Dir, Mark: mark, Log: data}.text()
	if err != nil {
		return nil, err
	}
	return wholefile.Prepare(w.noteFile(), text, 0o600)
}

// text is the content of the note's file.
func (n Note) text() ([]byte, error) {
	head, err := json.Marshal(n)
	return slices.Concat(head, []byte("\n"), n.Log), err
}

// ReadNote is the note on the log.
func (w *Workspace) ReadNote() (Note, error) {
	return readNote(w.noteFile(), func(n Note) bool { return n.Dir == w.Dir })
}

// readNote reads the note in a file. Its Log is nil if there is no note, or if it is damaged or not wanted.
func readNote(name string, wanted func(Note) bool) (n Note, err error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	var text []byte
	if err == nil {
		// The first line says which workspace it is about: a note that is not wanted may be large.
		if line, short := bufio.NewReaderSize(file, 64<<10).ReadSlice('\n'); short == nil && json.Unmarshal(line, &n) == nil && wanted(n) {
			text, err = os.ReadFile(name)
		}
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return n, &failure.Error{Message: "cannot read what was noted of a log: " + err.Error(), Remedy: "make the git directory readable", Err: err}
	}
	if line, log, is := bytes.Cut(text, []byte("\n")); is && json.Unmarshal(line, &n) == nil && wanted(n) {
		n.Log = log
	}
	return n, nil
}

// RecordedLog is the log that the work tree's has to continue: HEAD's, with what a note has besides, if that still counts. noted is nil if it
// does not.
func (w *Workspace) RecordedLog(ctx context.Context, repo reconcile.Repository, n Note, mark Mark, head []byte) (all, noted []byte, err error) {
	if sound, _ := w.parse(n.Log); sound == nil {
		return head, nil, nil // a conflict, say
	}
	commits, err := commitsBetween(w.Place, n.Mark, mark)
	if err != nil || commits == nil {
		return head, nil, err
	}
	if len(commits) > 1 {
		// Git keeps what was committed.
		if left, err := w.findUncommitted(ctx, repo, n, commits); err != nil || len(left) == 0 {
			return head, head, err
		}
	}
	return w.joinLogs(head, n.Log), n.Log, nil
}

// joinLogs is a log with the entries that only other has appended. An entry whose time is not allowed there gets a later one: otherwise it
// would be put back forever, and nobody could commit it.
func (w *Workspace) joinLogs(log, other []byte) []byte {
	stands := func(before, after *ledger.Ledger) bool { // a credential that was there before a guarded command is not its fault
		return w.Accepts(before, after) && combine.FirstBadTimestamp(before, after, w.Now) == nil
	}
	joined, err := w.putBackOf(log, other, stands)
	if err != nil || joined.Text == nil {
		return other // it continues the log, or there is no log
	}
	return joined.Text
}

// findUncommitted lists the entries of a note that are in none of the logs and in none of the commits' logs, not even in another version.
func (w *Workspace) findUncommitted(ctx context.Context, repo reconcile.Repository, n Note, commits []string, logs ...[]byte) ([]ledger.Entry, error) {
	left := w.readEntries(n.Log).Entries
	without := func(log []byte) error {
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
		if err := without(log); err != nil {
			return nil, err
		}
	}
	for _, id := range slices.Backward(commits) {
		if id == "" || len(left) == 0 {
			break
		}
		log, _, err := githistory.ReadFile(ctx, repo, id, w.Log(), w.Limits.FileSize())
		if err == nil {
			err = without(log)
		}
		if err != nil {
			return nil, err
		}
	}
	return left, nil
}

// HeadOrMended is the log that the one in the work tree has to continue: HEAD's, which is given, or, if the work tree's mends it, HEAD's with what
// its parent's log had put back. The hooks let such a log amend HEAD, so it must not be undone. Only a commit that nobody else has is mended.
func (w *Workspace) HeadOrMended(ctx context.Context, repo reconcile.Repository, head string, log []byte) ([]byte, error) {
	file, err := w.Read()
	if err != nil || log == nil || bytes.HasPrefix(file, log) {
		return log, nil //nolint:nilerr // whoever needs the file reads it again, and says so
	}
	now, _ := w.parse(file)
	was, _ := w.parse(log)
	if now == nil || was != nil && w.Accepts(was.Ledger, now.Ledger) {
		return log, nil
	}
	tips, err := repo.Tips(ctx, "refs/remotes/")
	if err != nil {
		return nil, err
	}
	own, err := repo.Commits(ctx, []string{head}, tips)
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

package reconcile

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

	"github.com/small-gate/small-gate/internal/expression"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/reconcile/splice"
	"github.com/small-gate/small-gate/internal/secret"
	"github.com/small-gate/small-gate/internal/wholefile"
	"github.com/small-gate/small-gate/internal/worklock"
)

// Note is what a guarded writer has left of a log.
type Note struct {
	// Dir is the workspace's directory, slash-separated, from the root of the work tree.
	Dir  string `json:"dir"`
	Mark Mark   `json:"mark"`
	// Log is the file. It stands as it is after a line with the rest; nil if there is no note.
	Log []byte `json:"-"`
}

// Mark is another one after each command of git that moves the work tree.
type Mark struct {
	// Branch is its full name, and Parents are the commits on which the next one stands.
	Branch  string   `json:"branch"`
	Parents []string `json:"parents"`
	// Reflog is the size of HEAD's reflog, in which a reset leaves a line even if it stays at a commit, and Stash that of the stash's. Without
	// reflogs, the rest has to do.
	Reflog int64 `json:"reflog"`
	Stash  int64 `json:"stash"`
}

// MarkOf is the mark of a work tree whose next commit has some parents.
func MarkOf(ctx context.Context, repo Repository, parents []string) (m Mark, err error) {
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

// commitLine is a line of a reflog about a commit that goes on from where HEAD was, and leaves alone what is not committed.
var commitLine = expression.Of(`^([0-9a-f]+) ([0-9a-f]+) [^\t]*\t(commit( \((initial|merge|cherry-pick)\))?|cherry-pick|revert|(merge|pull)[^(:]*):`)

// since lists the commits at which HEAD was from one mark to another, first to last. It is nil if git has done more to the work tree than
// committing: then what was there before may be gone for good reasons.
func since(place githistory.Place, from, to Mark) ([]string, error) {
	at, end := headOf(from), headOf(to)
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

func headOf(m Mark) string {
	if len(m.Parents) == 0 {
		return ""
	}
	return m.Parents[0]
}

const noteName = "noted"

func (w *Workspace) noteFile() string { return filepath.Join(w.Kept, noteName) }

// Note remembers the log as it is now; nothing, if it cannot be read as a log.
func (w *Workspace) Note(mark Mark) error {
	data, err := w.Read()
	if err != nil {
		return err
	}
	note, err := w.prepareNote(mark, data)
	if err == nil && note != nil {
		err = note.Finish()
	}
	return w.notNoted(err)
}

// notNoted is the failure of a note on a log that is as it should be.
func (w *Workspace) notNoted(err error) error {
	if err == nil {
		return nil
	}
	return &failure.Error{
		Message: w.Log() + " stays as it is now, but what is in it could not be noted, so that a loss would not be noticed: " + err.Error(),
		Remedy:  "make room in the git directory, and make it writable", Err: err,
	}
}

// prepareNote prepares the note on what the log is going to be; nil for none, and then there is none any more.
func (w *Workspace) prepareNote(mark Mark, data []byte) (*wholefile.Prepared, error) {
	// A credential is not copied: then what HEAD has is all that the next guarded command goes by.
	if log, _ := ledger.ReadLog(data, w.Limits); log == nil || len(secret.Find(string(data))) > 0 || slices.ContainsFunc(log.Entries, ledger.HasCredential) {
		err := os.Remove(w.noteFile())
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	head, err := json.Marshal(Note{Dir: w.Dir, Mark: mark})
	if err != nil {
		return nil, err
	}
	return wholefile.Prepare(w.noteFile(), slices.Concat(head, []byte("\n"), data), 0o600)
}

// Noted is the note on the log.
func (w *Workspace) Noted() (Note, error) {
	return readNote(w.Kept, func(n Note) bool { return n.Dir == w.Dir })
}

// readNote reads the note in a directory. Its Log is nil if there is none, if it is damaged, or if it is not wanted.
func readNote(dir string, wanted func(Note) bool) (n Note, err error) {
	name := filepath.Join(dir, noteName)
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	var text []byte
	if err == nil {
		// First who it is about: those of others may be large.
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

// Recorded is the log that the work tree's has to continue: HEAD's, with what a note has besides, if that still counts. noted is nil if it
// does not.
func (w *Workspace) Recorded(ctx context.Context, repo Repository, n Note, mark Mark, head []byte) (all, noted []byte, err error) {
	if sound, _ := ledger.ReadLog(n.Log, w.Limits); sound == nil {
		return head, nil, nil // a conflict, say
	}
	commits, err := since(w.Place, n.Mark, mark)
	if err != nil || commits == nil {
		return head, nil, err
	}
	if len(commits) > 1 {
		// What was committed is in git's care.
		if left, err := w.uncommitted(ctx, repo, n, commits); err != nil || len(left) == 0 {
			return head, head, err
		}
	}
	return w.join(head, n.Log), n.Log, nil
}

// join is a log with the entries after it that another one has besides. A time that cannot stand is moved: what nobody may commit would
// else be put back for ever.
func (w *Workspace) join(log, other []byte) []byte {
	stands := func(before, after *ledger.Ledger) bool {
		return w.Accepts(before, after) && splice.Untimely(before, after, w.Now) == nil
	}
	joined, err := splice.PutBackOf(log, other, stands, w.Now, w.Limits)
	if err != nil || joined.Text == nil {
		return other // it continues the log, or there is none
	}
	return joined.Text
}

// uncommitted are the entries of a note that none of some logs has, and none of some commits, not even in another version.
func (w *Workspace) uncommitted(ctx context.Context, repo Repository, n Note, commits []string, logs ...[]byte) ([]ledger.Entry, error) {
	noted, _ := ledger.ReadLog(n.Log, w.Limits)
	if noted == nil {
		return nil, nil
	}
	left := noted.Entries
	without := func(log []byte) error {
		found, err := splice.PutBackOf(n.Log, log, w.Accepts, w.Now, w.Limits)
		left = slices.DeleteFunc(slices.Clone(left), func(e ledger.Entry) bool {
			return !slices.ContainsFunc(found.Gone, func(gone ledger.Entry) bool { return gone.Digest == e.Digest })
		})
		return err
	}
	for _, log := range logs {
		if err := without(log); err != nil || len(left) == 0 {
			return left, err
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

// Loss is what is gone of a log although a guarded writer has recorded it.
type Loss struct {
	// Log is the log's path, from the root of the work tree.
	Log string
	// Noted is the log as the last guarded writer left it, and Index the index's.
	Noted, Index *ledger.Ledger
	// Gone are those of its entries that neither a commit, the index nor the work tree has.
	Gone []ledger.Entry
}

// Losses are those of the work tree's logs. The next commit stands on some parents; like holds what a workspace needs besides its place.
func Losses(ctx context.Context, repo Repository, parents []string, like Workspace) (out []Loss, err error) {
	place := repo.Where()
	root := worklock.Root(place.CommonDir)
	dirs, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) || place.Top == "" {
		return nil, nil
	}
	if err != nil {
		return nil, &failure.Error{Message: "cannot look for notes on logs: " + err.Error(), Remedy: "make the git directory readable", Err: err}
	}
	for _, dir := range dirs {
		if !dir.IsDir() {
			continue
		}
		w := like
		w.Place, w.Kept = place, filepath.Join(root, dir.Name())
		n, err := readNote(w.Kept, func(n Note) bool {
			return worklock.Dir(place.CommonDir, filepath.Join(place.Top, filepath.FromSlash(n.Dir))) == w.Kept
		})
		if err != nil {
			return nil, err
		}
		w.Dir = n.Dir
		loss, err := w.loss(ctx, repo, parents, n)
		if err != nil {
			return nil, err
		}
		if len(loss.Gone) > 0 {
			out = append(out, loss)
		}
	}
	return out, nil
}

// loss finds out what is gone of the log since a note.
func (w *Workspace) loss(ctx context.Context, repo Repository, parents []string, n Note) (out Loss, err error) {
	if n.Log == nil {
		return out, nil
	}
	file, unread := w.Read()
	if bytes.HasPrefix(file, n.Log) {
		return out, nil // nothing is gone, which takes little time to find out
	}
	mark, err := MarkOf(ctx, repo, parents)
	if err != nil {
		return out, err
	}
	commits, err := since(w.Place, n.Mark, mark)
	if err != nil || commits == nil {
		return out, err
	}
	index, found, err := githistory.ReadFile(ctx, repo, history.Index, w.Log(), w.Limits.FileSize())
	if err = errors.Join(err, unread); err != nil || !found {
		return out, err
	}
	out.Log, out.Noted, out.Index = w.Log(), ledger.NewLedger(nil), ledger.NewLedger(nil)
	if log, _ := ledger.ReadLog(n.Log, w.Limits); log != nil {
		out.Noted = log.Ledger
	}
	if log, _ := ledger.ReadLog(index, w.Limits); log != nil {
		out.Index = log.Ledger
	}
	out.Gone, err = w.uncommitted(ctx, repo, n, commits, file, index)
	return out, err
}

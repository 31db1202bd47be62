package restore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	githistory "github.com/small-gate/small-gate/internal/git/history"
	"github.com/small-gate/small-gate/internal/git/state"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/write/apply"
	"github.com/small-gate/small-gate/internal/write/combine"
	"github.com/small-gate/small-gate/internal/write/reconcile"
	"github.com/small-gate/small-gate/internal/write/workgit"
)

// Workspace is the place of one log in a work tree. The process holds its lock, so it may write the log.
type Workspace struct {
	Place githistory.Place
	// Dir is the workspace's directory, slash-separated, from the root of the work tree.
	Dir string
	// At is the log's path if the log is not the workspace's own: a configured log (one that .small-gate.yml declares), or a record or folder of
	// records of 2.0.0.
	At string
	// Kept is the directory, in the common git directory, for notes on the log and copies of overwritten files.
	Kept string
	// Policy is the trusted configuration. Its waivers and its baseline allow edits.
	Policy *policy.Policy
	Limits small.Limits
	Now    time.Time
	// Elsewhere are the digests of entries that are left out, since merging a remote-tracking branch brings them: see FindElsewhere.
	Elsewhere map[small.Digest]bool
}

// Log returns the log's path, from the root of the work tree.
func (w *Workspace) Log() string { return cmp.Or(w.At, small.Progress.Path(w.Dir)) }

// isWorkspaceLog reports whether the log is the workspace's own progress.small.yml.
func (w *Workspace) isWorkspaceLog() bool { return w.At == "" }

// kind says how the log's entries are read.
func (w *Workspace) kind() combine.Kind { return combine.KindOf(w.Policy, w.Log()) }

// parse parses a text as the log.
func (w *Workspace) parse(data []byte) (*ledger.Log, []small.Problem) {
	return w.kind().Read(data, w.Limits)
}

// putBackOf puts back the entries of an old log that a file in its place lacks: see [combine.Kind.PutBack].
func (w *Workspace) putBackOf(old, file []byte, accepts func(parent, child *ledger.Ledger) bool) (combine.PutBack, error) {
	return w.kind().PutBack(old, file, accepts, nil, w.Now, w.Limits)
}

// Command returns the command that restores the log, whatever the current directory.
func (w *Workspace) Command() string { return "small-hook restore" + remedy.InDirectory(w.Log()) }

// Read reads the log; nil if there is none.
func (w *Workspace) Read() ([]byte, error) { return workgit.ReadFile(w.Place.Top, w.Log()) }

// readEntries returns the entries of a log; none if it cannot be read.
func (w *Workspace) readEntries(data []byte) *ledger.Ledger {
	return w.kind().Entries(data, w.Limits)
}

// again ends each remedy of a failed change of the work tree.
const again = "run the command again"

// workTree returns the place where the workspace's files are changed.
func (w *Workspace) workTree() apply.Place {
	return apply.Place{Top: w.Place.Top, Kept: w.Kept, Again: again}
}

// Accepts reports whether the step from a log to another is allowed.
func (w *Workspace) Accepts(parent, child *ledger.Ledger) bool {
	return read.NewLogComparer(w.Policy, w.Log(), w.Now).Accepts(parent, child)
}

// isSoundStep reports whether child may follow parent. The step must be accepted. In the workspace's own log, new entries must have allowed times and no
// credentials. In a configured log, they must not repeat others if the configuration rejects that.
func (w *Workspace) isSoundStep(parent, child *ledger.Ledger) bool {
	if kind := w.kind(); kind.Configured() {
		return w.Accepts(parent, child) && len(kind.Doubles([]*ledger.Ledger{parent}, child)) == 0
	}
	return w.Accepts(parent, child) && combine.FirstBadTimestamp(parent, child, w.Now) == nil && !combine.AddsCredential(parent, child)
}

// isSoundAfter is isSoundStep for any number of parents.
func (w *Workspace) isSoundAfter(parents []*ledger.Ledger, child *ledger.Ledger) bool {
	if len(parents) == 0 {
		return w.isSoundStep(ledger.NewLedger(nil), child)
	}
	if kind := w.kind(); kind.Configured() && len(parents) > 1 {
		return combine.HoldsAll(parents, child, read.NewLogComparer(w.Policy, w.Log(), w.Now).Keeps) && len(kind.Doubles(parents, child)) == 0
	}
	return !slices.ContainsFunc(parents, func(parent *ledger.Ledger) bool { return !w.isSoundStep(parent, child) })
}

// readLogs returns the logs of those versions that can be read.
func (w *Workspace) readLogs(sides []combine.Version) (logs []*ledger.Ledger) {
	for _, v := range sides {
		if log, _ := w.parse(v.Data); log != nil {
			logs = append(logs, log.Ledger)
		}
	}
	return logs
}

// Restored is the result of restoring a log.
type Restored struct {
	combine.PutBack
	// Log is the log's path, from the root of the work tree.
	Log string
	// Retimed are entries whose time a mended commit has changed: the old and the new form of each. They are not in Lost.
	Retimed [][2]ledger.Entry
	// File is the name of the copy of the file that was in the log's place; empty if no copy was made.
	File string
	// Discarded is how many new entries were dropped.
	Discarded int
	// Forgotten are entries that git had removed on request, and whose note is now removed.
	Forgotten []ledger.Entry
	// Plan is the path of the plan if it got back tasks that the restored entries name; empty if it has not changed.
	Plan string
	// Missing are the paths of other files that were put back: missing files of the workspace, or missing or changed records. Aside maps the path of a
	// changed record to the name of the copy of what was there.
	Missing []string
	Aside   map[string]string
	// Staged is true if anything was staged. Next are the commands to type next; none if nothing is left to commit.
	Staged bool
	Next   []string
}

// Done reports whether anything was restored or staged.
func (r Restored) Done() bool { return r.Text != nil || r.Staged }

// Restore puts back the entries of an old log: see [combine.Kind.PutBack]. It keeps a copy of the file. Text is nil if there was nothing to put
// back.
func (w *Workspace) Restore(old []byte, accepts func(parent, child *ledger.Ledger) bool) (Restored, error) {
	out, file, err := w.findLost(old, accepts)
	if err != nil || out.Text == nil {
		return out, err
	}
	err = w.keepAndWrite(&out, file)
	return out, err
}

// ErrUnreadable is in the chain of an error if restoring failed since a commit's log cannot be read or is not there.
var ErrUnreadable = errors.New("the old log cannot be read")

// FindLastSound finds the last commit before HEAD that has a readable log. It returns "" if HEAD has one, or no commit has.
func (w *Workspace) FindLastSound(ctx context.Context, repo reconcile.Repository, environ []string) (string, error) {
	git, err := workgit.Open(w.Place, environ)
	if err != nil {
		return "", err
	}
	head, err := repo.Head(ctx)
	if err != nil || head == "" {
		return "", err
	}
	canRead := func(commit string) (bool, error) {
		text, there, err := githistory.ReadFile(ctx, repo, commit, w.Key(), w.Limits.FileSize())
		log, _ := w.parse(text)
		return there && (log != nil || w.isOfRecords()), err
	}
	if sound, err := canRead(head); err != nil || sound {
		return "", err
	}
	changed, err := git.Run(ctx, "rev-list", head, "--", w.Key())
	if err != nil {
		return "", err
	}
	for id := range strings.FieldsSeq(string(changed)) {
		if sound, err := canRead(id); err != nil || sound {
			return id, err
		}
	}
	return "", nil
}

// findLost finds what Restore would put back, and returns the log's present text as file.
func (w *Workspace) findLost(old []byte, accepts func(parent, child *ledger.Ledger) bool) (out Restored, file []byte, err error) {
	out.Log = w.Log()
	if file, err = w.Read(); err != nil {
		return out, nil, err
	}
	out.PutBack, err = w.kind().PutBack(old, file, accepts, func(e ledger.Entry) bool { return w.Elsewhere[e.Digest] }, w.Now, w.Limits)
	if err != nil {
		err = &failure.Error{
			Message: fmt.Sprintf("%s cannot be put back: the old log cannot be read: %v", w.Log(), err),
			Remedy:  "give --source a commit whose log can be read; `git log -- " + wording.TopPath(w.Log()) + "` lists the commits that changed it",
			Err:     ErrUnreadable,
		}
	}
	return out, file, err
}

// FindElsewhere sets w.Elsewhere to the file's new entries that a remote-tracking branch has, and that would get another time if they were written after
// old. old is the log of the commit head with the entries recorded since. A killed sync leaves such a file. Merging that branch brings the entries, at
// their own times.
func (w *Workspace) FindElsewhere(ctx context.Context, repo reconcile.Repository, head string, old []byte) error {
	file, readErr := w.Read()
	if readErr != nil || head == "" || bytes.HasPrefix(file, old) {
		return nil //nolint:nilerr // what cannot be read has no entries
	}
	// What git merge --squash took over is to be committed here, even if another branch has it.
	if squash, err := state.Squashes(repo.Where().GitDir); err != nil || squash {
		return err
	}
	back, readErr := w.putBackOf(old, file, w.Accepts)
	if moved := w.withAllowedTimes(back.RetimedNew); readErr == nil && len(moved) > 0 {
		var err error
		w.Elsewhere, err = reconcile.Published(ctx, repo, head, w.Log(), moved, reconcile.Options{Policy: w.Policy, MaxFileSize: w.Limits.MaxFileSize, Now: w.Now})
		return err
	}
	return nil
}

// withAllowedTimes returns the moved entries that can stay unchanged at some place of the log. It leaves out those whose time cannot be read or is
// ahead of now, and those with a credential.
func (w *Workspace) withAllowedTimes(moved []ledger.Entry) []ledger.Entry {
	return slices.DeleteFunc(slices.Clone(moved), func(e ledger.Entry) bool {
		at, ok := ledger.ParseTimestamp(e.Timestamp)
		return !ok || at.After(w.Now.Add(ledger.ClockTolerance)) || ledger.HasCredential(e)
	})
}

// replaceWith is findLost for a restoration that drops all new entries: the file becomes the old log.
func (w *Workspace) replaceWith(old []byte) (Restored, []byte, error) {
	out, file, err := w.findLost(old, func(_, _ *ledger.Ledger) bool { return false })
	if file != nil && bytes.Equal(file, old) {
		return Restored{Log: w.Log()}, file, err
	}
	out.Text, out.Discarded, out.New, out.RetimedNew, out.Masked = old, out.New, 0, nil, 0
	return out, file, err
}

// keepAndWrite keeps a copy of the file, if there is one, and writes the restored text.
func (w *Workspace) keepAndWrite(out *Restored, file []byte) (err error) {
	if file != nil {
		if out.File, err = w.workTree().Keep(w.Log(), file); err != nil {
			return err
		}
	}
	return w.workTree().Write(w.Log(), out.Text)
}

// setLinkAside removes a symbolic link that is in the log's place, and returns the name of the file that records its target; empty if there is
// no link.
func (w *Workspace) setLinkAside() (string, error) {
	file := filepath.Join(w.Place.Top, filepath.FromSlash(w.Log()))
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && info.Mode().Type() != fs.ModeSymlink {
		return "", nil
	}
	var target string
	if err == nil {
		target, err = os.Readlink(file)
	}
	if err != nil {
		return "", &failure.Error{Message: "cannot look at " + w.Log() + ": " + err.Error(), Err: err}
	}
	kept, err := w.workTree().Keep(w.Log(), []byte("a symbolic link to "+target+"\n"))
	if err == nil {
		err = os.Remove(file)
	}
	return kept, err
}

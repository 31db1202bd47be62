package gate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// Ledgers lists the state of the log of every workspace of a revision that the policy judges. A log that cannot be read is a *failure.Error.
func Ledgers(ctx context.Context, h history.History, revision string, opts run.Options) ([]finding.LedgerState, error) {
	src := run.New(h, opts, run.Scope{}).Source
	files, err := src.JudgedFiles(ctx, revision)
	if err != nil {
		return nil, err
	}
	var out []finding.LedgerState
	for _, f := range files {
		if !read.IsProgress(f.Path) || !src.IsLog(f.Path) {
			continue
		}
		l, err := src.ReaderOf(f.Path).Read(ctx, f, nil)
		if err != nil {
			return nil, err
		}
		if !l.Readable() {
			return nil, &failure.Error{
				Message: fmt.Sprintf("%s cannot be read as a log: %s", f.Path, l.Problems[0].Message),
				Remedy:  "put the last readable log back and commit it first: " + wording.Commands("small-hook restore"+remedy.InDirectory(f.Path)),
			}
		}
		state := finding.LedgerState{Path: f.Path, Entries: l.Log.Len(), Head: l.Log.Head()}
		for _, e := range l.Log.Entries {
			if _, ok := ledger.ParseTimestamp(e.Timestamp); !ok {
				state.Unmigrated++
			}
		}
		out = append(out, state)
	}
	return out, nil
}

// DigestsOf lists the entry digests of the workspace's log in one directory of a tree, which must be there and readable. For a workspace of
// 2.0.0 it lists the sha256 of each record, in the order of their paths.
func DigestsOf(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) ([]small.Digest, error) {
	src := run.NewCheck(tree, opts, run.Scope{}).Source
	if is, err := src.Profile2At(ctx, revision, dir); err != nil || is {
		if err != nil {
			return nil, err
		}
		return recordDigests(ctx, src, revision, dir)
	}
	at := small.Progress.Path(dir)
	log, err := src.LogAt(ctx, revision, at)
	switch {
	case err != nil:
		return nil, err
	case log == nil:
		return nil, &failure.Error{Message: "there is no log " + at, Remedy: "name a directory that has one, or a log; `small-hook doctor` lists them"}
	case !log.Readable():
		p := log.Problems[0]
		return nil, &failure.Error{Message: at + " cannot be read as a log: " + p.Message, Remedy: p.Hint}
	}
	return ledger.DigestsOf(log.Log.Ledger), nil
}

// LogDigests lists the digests of all of each entry of the configured log at a path of a tree: a file, or a folder whose files are entries. The log
// must be there and readable.
func LogDigests(ctx context.Context, tree history.Tree, revision, at string, opts run.Options) (out []small.Digest, err error) {
	log, err := logEntries(ctx, run.NewCheck(tree, opts, run.Scope{}).Source, revision, at)
	if err != nil || log.Len() == 0 {
		return nil, cmp.Or(err, noLog(at))
	}
	for i := range log.Entries {
		out = append(out, log.Entries[i].WholeDigest())
	}
	return out, nil
}

func noLog(at string) error {
	return &failure.Error{Message: "there is no log with an entry at " + wording.Quote(cmp.Or(at, ".")), Remedy: "name a log of the configuration, or a folder whose files must not change; `small-hook doctor` lists them"}
}

// LogState returns the state of the configured log at a path of a revision: a file, or a folder whose files are entries.
func LogState(ctx context.Context, tree history.Tree, revision, at string, opts run.Options) (finding.LedgerState, error) {
	src := run.NewCheck(tree, opts, run.Scope{}).Source
	log, err := logEntries(ctx, src, revision, at)
	if err != nil {
		return finding.LedgerState{}, err
	}
	head := src.Policy.LogFor(at).Head(log)
	if log.Len() > 0 && log.Entries[0].Noun == ledger.File {
		head = log.SetHead()
	}
	return finding.LedgerState{Path: at, Entries: log.Len(), Head: head}, nil
}

// logEntries returns the entries of the configured log at a path, which must be there and readable.
func logEntries(ctx context.Context, src *read.Source, revision, at string) (*ledger.Ledger, error) {
	filter := history.At(at)
	for _, folder := range []string{at, path.Dir(at)} { // see policy.Log.NamesFolder
		filter.Patterns = append(filter.Patterns, path.Join(policy.LiteralPattern(folder), "*"))
	}
	files, err := src.Tree.List(ctx, revision, filter)
	if err != nil {
		return nil, err
	}
	var out []ledger.Entry
	found := false
	var of *policy.Log
	for _, f := range files {
		stanza := src.Policy.LogFor(f.Path)
		inFolder := src.IsFileEntry(f.Path) && (stanza == nil && src.LogName(f.Path) == at || stanza != nil && stanza.NamesFolder(at, path.Dir(f.Path)))
		if !src.IsLog(f.Path) || f.Path != at && !inFolder {
			continue
		}
		if found && stanza != of {
			name := func(l *policy.Log) string { return wording.Quote(path.Join(at, path.Base(l.Path))) }
			return nil, &failure.Error{Message: wording.Quote(at) + " has files of several logs", Remedy: "name one: " + name(of) + " or " + name(stanza)}
		}
		of = stanza
		log, err := src.ReaderOf(f.Path).Read(ctx, f, nil)
		if err != nil {
			return nil, err
		}
		if !log.Readable() {
			p := log.Problems[0]
			return nil, &failure.Error{Message: f.Path + " cannot be read as a log: " + p.Message, Remedy: remedy.ReadableAgain(f.Path, revision, p.Hint)}
		}
		out, found = append(out, log.Log.Entries...), true
	}
	if !found {
		return nil, noLog(at)
	}
	return ledger.OfEntries(out), nil
}

// recordDigests returns the digests of the records of a workspace of 2.0.0, in the order of their paths.
func recordDigests(ctx context.Context, src *read.Source, revision, dir string) (out []small.Digest, err error) {
	files, err := src.Tree.List(ctx, revision, history.Workspaces(dir))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b history.File) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range files {
		in, name, _ := small.SplitPath(f.Path)
		kind := records.KindOf(name)
		if in != dir || kind == "" || f.Mode == history.ModeDirectory {
			continue
		}
		data, problem, err := read.ReadFile(ctx, src.Tree, f, small.Limits{MaxFileSize: kind.MaxSize(src.Limits.FileSize())})
		if err != nil {
			return nil, err
		}
		if problem != nil {
			return nil, &failure.Error{Message: f.Path + ": " + problem.Message, Remedy: problem.Hint}
		}
		out = append(out, sha256.Sum256(data))
	}
	return out, nil
}

// Moves maps the old path of each log that moved between a commit and a later one to its new path. Files that are entries are left out.
func Moves(ctx context.Context, h history.History, from, to string, opts run.Options) (map[string]string, error) {
	if from == to {
		return nil, nil
	}
	src := run.New(h, opts, run.Scope{}).Source
	m, err := src.MovesBetween(ctx, from, to)
	out := map[string]string{}
	for path, f := range m {
		if read.IsProgress(path) || opts.Policy.LogFor(path) != nil && !src.IsFileEntry(path) {
			out[path] = f.Path
		}
	}
	return out, err
}

// Rotated maps the path of each configured log that was rotated between a commit and a later one to the path of its archive.
func Rotated(ctx context.Context, h history.History, from, to string, opts run.Options) (map[string]string, error) {
	if from == to || len(opts.Policy.Logs) == 0 {
		return nil, nil
	}
	return run.New(h, opts, run.Scope{}).Source.RotatedBetween(ctx, from, to)
}

package edit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/lock"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/remedy"
	"github.com/small-gate/small-gate/internal/judge"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// Accepted is the result of Baseline.
type Accepted struct {
	// File is the configuration's path.
	File string
	// Revision is where the accepted logs were read.
	Revision  string
	Baselines []policy.Baseline
	// Unmigrated is the number of accepted timestamps that the protocol's own program would ask to migrate.
	Unmigrated int
}

// Baseline accepts every log as it is in a revision (default HEAD): it writes a stanza for each into the configuration of the work tree. The
// result leaves out logs that the configuration already accepts in that state.
func Baseline(ctx context.Context, req session.Request, revision, reason string) (out Accepted, err error) {
	out.Revision = cmp.Or(revision, "HEAD")
	out.File, err = editConfig(ctx, req, "baseline", func(s *session.Session, data []byte) ([]byte, error) {
		commit, err := s.ResolveCommit(ctx, out.Revision)
		if err != nil {
			return nil, err
		}
		ledgers, err := gate.Ledgers(ctx, s.Repo, commit, s.Opts)
		if err != nil {
			return nil, err
		}
		accepted := false
		for _, l := range ledgers {
			if b := s.Opts.Policy.BaselineFor(l.Path); b != nil && b.Entries == l.Entries && b.Head == l.Head {
				accepted = true
			} else if l.Entries > 0 {
				out.Unmigrated += l.Unmigrated
				out.Baselines = append(out.Baselines, policy.Baseline{Path: l.Path, Entries: l.Entries, Head: l.Head, Reason: reason})
			}
		}
		if len(out.Baselines) == 0 && !accepted {
			f := &failure.Error{Message: "there is no log with entries to accept in " + out.Revision, Remedy: "begin a log and commit it first; until then there is nothing to accept"}
			if _, historyErr := findNearestInHistory(ctx, s); historyErr == nil {
				f.Remedy = "if a commit has deleted it, put it back and commit it first: `small-hook restore`; else commit the .small/ directory first"
			}
			return nil, f
		}
		edited, err := policy.AddBaseline(data, out.Baselines, catalogue.Known())
		if err != nil {
			return nil, err
		}
		return edited, checkAcceptsAll(ctx, s, commit, edited)
	})
	return out, err
}

// checkAcceptsAll fails if the past has errors that the new baselines do not accept. A baseline accepts everything before the first commit whose
// log begins with the baseline's entries. If a log was rewritten and then put back, that commit is older than the rewrite, and the baseline does
// not accept the rewrite. Appending an entry before the baseline is written helps: no older log has this entry.
func checkAcceptsAll(ctx context.Context, s *session.Session, commit string, edited []byte) error {
	if err := s.TrustContent(edited, policy.File, commit); err != nil {
		return err
	}
	s.SetStandings(ctx, commit)
	report := gate.Audit(ctx, s.Repo, commit, s.Opts)
	if f := report.Failure; f != nil {
		if errors.Is(f, history.ErrLacking) {
			return nil // a shallow clone lacks the past; an audit there says so
		}
		return f
	}
	for _, f := range report.Findings {
		if f.Severity != finding.SeverityError || f.Commit == "" || s.Opts.Policy.BaselineFor(f.Path) == nil {
			continue
		}
		standings, err := s.Opts.Standings()
		if err != nil {
			return err
		}
		out := &failure.Error{Message: fmt.Sprintf("a baseline does not accept this: in %s, %s", history.Short(f.Commit), wording.Printable(f.Message)), Remedy: f.Fix}
		if standings.At(f.Commit) != history.Own {
			out.Message += ". An older commit already had the log as it is now, and a baseline accepts only what came before that commit"
			if f.Rule == "append-only/log-deleted" || s.Opts.Policy.LogFor(f.Path) != nil {
				return out
			}
			out.Remedy = "append an entry first, then accept the log with it: " + wording.Commands(
				"small-hook append"+remedy.InDirectory(f.Path)+` --task meta/accept --status completed --evidence "the log is accepted as it stands"`,
				"git add -- "+wording.TopPath(f.Path), `git commit -m "Record that the log is accepted"`,
			) + ", " + remedy.AcceptPast + "; to waive single edits instead, see small-hook waive --help"
		}
		return out
	}
	return nil
}

// maxWaivers bounds the stanzas that one command writes: the size of a configuration is bounded, and people read it.
const maxWaivers = 1000

// Waive writes stanzas that waive edits into the configuration of the work tree, all or none, and returns the configuration's path.
func Waive(ctx context.Context, req session.Request, edits []judge.EditToWaive) (file string, err error) {
	var waivers []policy.Waiver
	for _, e := range edits {
		waiver, err := waiverFor(e)
		if err != nil {
			return "", err
		}
		if waiver.Expired(req.Now) {
			return "", &failure.Error{Message: fmt.Sprintf("%s is in the past: the waiver would allow nothing", e.Until), Remedy: "give a later day with --until, or leave it out"}
		}
		waivers = append(waivers, waiver)
	}
	if len(waivers) > maxWaivers {
		return "", &failure.Error{
			Message: fmt.Sprintf("%d edits are too many to waive one by one", len(waivers)),
			Remedy:  "a person accepts the logs as they stand, once these edits are committed: `small-hook baseline`",
		}
	}
	return editConfig(ctx, req, "waive", func(_ *session.Session, data []byte) ([]byte, error) {
		return policy.AddWaivers(data, waivers, catalogue.Known())
	})
}

// waiverFor returns the stanza that waives an edit.
func waiverFor(e judge.EditToWaive) (policy.Waiver, error) {
	w := policy.Waiver{OfLog: e.Rule == "", Rule: e.Rule, Path: e.Path, Reason: e.Reason}
	if e.From == "" && e.To == "" {
		return w, &failure.Error{
			Message: fmt.Sprintf("a finding of %s is not about a single edit and cannot be waived", e.Rule),
			Remedy:  "correct the file, or give the rule another level under rules: in " + policy.File,
		}
	}
	if strings.TrimSpace(e.Reason) == "" {
		return w, &failure.Error{Message: "a waiver needs a reason", Remedy: "say why with --reason"}
	}
	for _, side := range []struct {
		text string
		to   **small.Digest
	}{{e.From, &w.From}, {e.To, &w.To}} {
		if side.text == "" {
			continue
		}
		d, err := small.ParseDigest(side.text)
		if err != nil {
			return w, err
		}
		*side.to = &d
	}
	if e.Until != "" {
		day, err := time.Parse(time.DateOnly, e.Until)
		if err != nil {
			return w, &failure.Error{Message: fmt.Sprintf("%q is not a day", e.Until), Remedy: "write the last day as 2026-12-31", Err: err}
		}
		w.Until = day
	}
	return w, nil
}

// checkFloor fails if the floor forbids the stanzas that a command writes.
func checkFloor(s *session.Session, mode string) error {
	if mode == "baseline" && s.Opts.Floor.ForbidsBaselines() || mode == "waive" && s.Opts.Floor.ForbidsWaivers() {
		return &failure.Error{Message: "the floor " + s.Opts.Floor.Source + " forbids this: the stanza would not count", Remedy: "ask whoever keeps the floor"}
	}
	return nil
}

// editConfig edits the configuration in the root of the work tree and returns its path. edit receives a session under that configuration, and
// the configuration's content, which is nil if there is none; edit returns the new content.
func editConfig(ctx context.Context, req session.Request, mode string, edit func(s *session.Session, data []byte) ([]byte, error)) (file string, err error) {
	_, err = req.InRepository(ctx, mode, func(s *session.Session) (err error) {
		top, err := s.Repo.Where().WorkTree()
		if err == nil {
			err = s.UseFloor()
		}
		if err == nil {
			err = checkFloor(s, mode)
		}
		if err != nil {
			return err
		}
		file = filepath.Join(top, policy.File)
		release, err := lock.Directory(ctx, s.Repo.Where().CommonDir, true) // else two that edit at the same time would lose a stanza
		if err != nil {
			return &failure.Error{Message: fmt.Sprintf("cannot lock the configuration: %v", err), Err: err}
		}
		defer func() { err = errors.Join(err, release()) }()
		if err := checkConfigOnDisk(ctx, s, file); err != nil {
			return err
		}
		if err := s.TrustRoot(top); err != nil {
			return err
		}
		edited, err := edit(s, s.TrustedText)
		if err != nil {
			return err
		}
		if err := wholefile.WriteVia(s.Repo.Where().GitDir, file, edited); err != nil {
			return &failure.Error{Message: fmt.Sprintf("cannot write the configuration: %v", err), Err: err}
		}
		return nil
	})
	return file, err
}

// checkConfigOnDisk fails if file, the configuration in the work tree, is a symbolic link, which does not count, or is missing although the index has
// one: a new file would replace all that one says.
func checkConfigOnDisk(ctx context.Context, s *session.Session, file string) error {
	info, err := os.Lstat(file)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &failure.Error{Message: policy.File + " is a symbolic link, and no commit's configuration may be one", Remedy: "replace it with a file"}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil // TrustRoot reports what is wrong
	}
	if staged, err := s.Repo.List(ctx, history.Index, history.At(policy.File)); err != nil || len(staged) == 0 {
		return err
	}
	return &failure.Error{
		Message: policy.File + " is in the index, but not in the work tree: a new one would lose what it says",
		Remedy:  "put it back: `git restore --ignore-skip-worktree-bits -- " + wording.TopPath(policy.File) + "`; or delete it: `git rm --cached -- " + wording.TopPath(policy.File) + "`",
	}
}

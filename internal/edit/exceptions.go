package edit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	"github.com/small-gate/small-gate/internal/write/restore"
)

// Accepted is the result of Baseline.
type Accepted struct {
	// File is the configuration's path.
	File string
	// Revision is where the accepted logs were read.
	Revision  string
	Baselines []policy.Baseline
	// Logs are the stanzas of configured logs that got the since commit Since.
	Logs  []policy.Log
	Since string
	// Unmigrated is the number of accepted timestamps that the protocol's own program would ask to migrate.
	Unmigrated int
}

// Baseline accepts every log as it is in a revision (default HEAD), in the configuration of the work tree. For each log of a workspace it writes a
// baseline. A configured log whose history has errors gets a since commit instead, which also serves a log without an order, one that compares only
// part of an entry, and a folder of files. The result leaves out logs that the configuration already accepts in that state.
func Baseline(ctx context.Context, req session.Request, revision, reason string) (out Accepted, err error) {
	out.Revision = cmp.Or(revision, "HEAD")
	out.File, err = editConfig(ctx, req, "baseline", func(s *session.Session, data []byte) ([]byte, error) {
		commit, err := s.ResolveCommit(ctx, out.Revision)
		if err != nil {
			return nil, err
		}
		if err := out.addBaselines(ctx, s, commit, reason); err != nil {
			return nil, err
		}
		edited, err := policy.AddBaseline(data, out.Baselines, catalogue.Known())
		if err != nil {
			return nil, err
		}
		errs, err := findPastErrors(ctx, s, commit, edited)
		if errors.Is(err, history.ErrLacking) && (len(out.Baselines) > 0 || len(s.Opts.Policy.Logs) == 0) {
			return edited, nil // a shallow clone lacks the past; an audit there says so
		}
		if err == nil && !s.Opts.Floor.ForbidsSince() {
			edited, errs, err = out.acceptSince(ctx, s, commit, edited, errs)
		}
		if err != nil {
			return nil, err
		}
		return edited, out.checkAcceptsAll(s, errs)
	})
	return out, err
}

// addBaselines adds a baseline for the log of each workspace that the configuration does not accept yet as it is in a commit. It fails if there is
// nothing to accept, in configured logs neither, or if a floor forbids to accept anything.
func (out *Accepted) addBaselines(ctx context.Context, s *session.Session, commit, reason string) error {
	accepts := len(s.Opts.Policy.Logs) > 0
	if floor := s.Opts.Floor; floor.ForbidsBaselines() {
		if !accepts || floor.ForbidsSince() {
			return errForbidden(floor)
		}
		return nil
	}
	ledgers, err := gate.Ledgers(ctx, s.Repo, commit, s.Opts)
	if err != nil {
		return err
	}
	for _, l := range ledgers {
		if b := s.Opts.Policy.BaselineFor(l.Path); b != nil && b.Entries == l.Entries && b.Head == l.Head {
			accepts = true
		} else if l.Entries > 0 {
			out.Unmigrated += l.Unmigrated
			out.Baselines = append(out.Baselines, policy.Baseline{Path: l.Path, Entries: l.Entries, Head: l.Head, Reason: reason})
		}
	}
	if len(out.Baselines) > 0 || accepts {
		return nil
	}
	f := &failure.Error{Message: "there is no log with entries to accept in " + out.Revision, Remedy: "begin a log and commit it first; until then there is nothing to accept"}
	if dir, err := findNearestInHistory(ctx, s); err == nil {
		f.Remedy = "if a commit has deleted it, put it back and commit it first: `" + (&restore.Workspace{Dir: dir}).Command() + "`; else commit the .small/ directory first"
	}
	return f
}

// findPastErrors judges the history of a commit under an edited configuration, and returns the errors in its commits.
func findPastErrors(ctx context.Context, s *session.Session, commit string, edited []byte) ([]finding.Finding, error) {
	if err := s.TrustContent(edited, policy.File, commit); err != nil {
		return nil, err
	}
	s.SetStandings(ctx, commit)
	report := gate.Audit(ctx, s.Repo, commit, s.Opts)
	if f := report.Failure; f != nil {
		return nil, f
	}
	return slices.DeleteFunc(report.Findings, func(f finding.Finding) bool { return f.Severity != finding.SeverityError || f.Commit == "" }), nil
}

// acceptSince gives a since commit to the stanzas of configured logs that have errors. It returns the edited configuration, and the errors that are left
// under it.
func (out *Accepted) acceptSince(ctx context.Context, s *session.Session, commit string, edited []byte, errs []finding.Finding) ([]byte, []finding.Finding, error) {
	own := slices.DeleteFunc(slices.Clone(errs), func(f finding.Finding) bool { return s.Opts.Policy.LogFor(f.Path) == nil })
	since, err := chooseSince(ctx, s, commit, own)
	if err != nil {
		return nil, nil, err
	}
	var paths []string
	for _, f := range own {
		paths = append(paths, f.Path)
	}
	edited, logs, err := policy.SetSince(edited, since, paths, catalogue.Known())
	if err != nil || len(logs) == 0 {
		return edited, errs, err
	}
	out.Logs, out.Since = logs, since
	errs, err = findPastErrors(ctx, s, commit, edited)
	return edited, errs, err
}

// chooseSince returns the commit until which errors are accepted: where the branch parted from the remote's default branch if all of them have landed
// there, since that commit stays even if the branch is squashed; otherwise the branch's own commit.
func chooseSince(ctx context.Context, s *session.Session, commit string, errs []finding.Finding) (string, error) {
	standings, err := s.Opts.Standings()
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(errs, func(f finding.Finding) bool { return standings.At(f.Commit) != history.Landed }) {
		return commit, nil
	}
	tip, _, err := findSince(ctx, s, commit)
	if err != nil {
		return "", err
	}
	bases, err := s.Repo.MergeBases(ctx, commit, tip)
	if err != nil || len(bases) != 1 {
		return commit, err
	}
	return bases[0], nil
}

// checkAcceptsAll fails if the past has errors that the new stanzas do not accept, or errors in configured logs though there is no other log to accept. A baseline accepts everything before the first commit whose
// log begins with the baseline's entries. If a log was rewritten and then put back, that commit is older than the rewrite, and the baseline does
// not accept the rewrite. Appending an entry before the baseline is written helps: no older log has this entry.
func (out *Accepted) checkAcceptsAll(s *session.Session, errs []finding.Finding) error {
	for _, f := range errs {
		l := s.Opts.Policy.LogFor(f.Path)
		configured := l != nil && (out.Since != "" && l.Since == out.Since || len(out.Baselines) == 0)
		if s.Opts.Policy.BaselineFor(f.Path) == nil && !configured {
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

// errForbidden is the failure of a command whose stanzas a floor forbids.
func errForbidden(floor *policy.Floor) error {
	return &failure.Error{Message: nameOf(floor) + " forbids this: the stanza would not count", Remedy: "ask whoever keeps the floor"}
}

// nameOf returns the name of a floor for a sentence; that of a floor which is given as a text is "the floor".
func nameOf(floor *policy.Floor) string {
	return strings.TrimSpace("the floor " + strings.TrimPrefix(floor.Source, "the floor"))
}

// editConfig edits the configuration in the root of the work tree and returns its path. edit receives a session under that configuration, and
// the configuration's content, which is nil if there is none; edit returns the new content.
func editConfig(ctx context.Context, req session.Request, mode string, edit func(s *session.Session, data []byte) ([]byte, error)) (file string, err error) {
	_, err = req.InRepository(ctx, mode, func(s *session.Session) (err error) {
		top, err := s.Repo.Where().WorkTree()
		if err == nil {
			err = s.UseFloor()
		}
		if err == nil && mode == "waive" && s.Opts.Floor.ForbidsWaivers() {
			err = errForbidden(s.Opts.Floor)
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

package writers

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/entrypoint"
	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/rules"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/wholefile"
)

// Accepted is what Baseline wrote.
type Accepted struct {
	// File is the configuration's path.
	File string
	// Revision is what the logs were taken from.
	Revision  string
	Baselines []policy.Baseline
	// Unmigrated is how many accepted timestamps the protocol's own program would ask to migrate.
	Unmigrated int
}

// Baseline writes a stanza into the configuration of the work tree that accepts every log as it stands in a revision (default HEAD).
// Logs that the configuration already accepts so are not in what it returns.
func Baseline(ctx context.Context, req session.Request, revision, reason string) (out Accepted, err error) {
	out.Revision = cmp.Or(revision, "HEAD")
	out.File, err = editConfig(ctx, req, "baseline", func(s *session.Session, data []byte) ([]byte, error) {
		commit, err := s.Commit(ctx, out.Revision)
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
			return nil, &failure.Error{Message: "there is no log with entries to accept in " + out.Revision, Remedy: "commit the .small/ directory first"}
		}
		return policy.AddBaseline(data, out.Baselines, rules.Known())
	})
	return out, err
}

// maxWaivers is how many stanzas one command writes: a configuration has its bounds, and readers.
const maxWaivers = 1000

// Waive writes the stanzas that excuse some edits into the configuration of the work tree, all or none, and returns its path.
func Waive(ctx context.Context, req session.Request, edits []entrypoint.Excuse) (file string, err error) {
	var waivers []policy.Waiver
	for _, e := range edits {
		waiver, err := waiverFor(e)
		if err != nil {
			return "", err
		}
		if waiver.Expired(req.Now) {
			return "", &failure.Error{Message: fmt.Sprintf("%s is in the past: the waiver would excuse nothing", e.Until), Remedy: "give a later day with --until, or leave it out"}
		}
		waivers = append(waivers, waiver)
	}
	if len(waivers) > maxWaivers {
		return "", &failure.Error{
			Message: fmt.Sprintf("%d edits are too many to excuse one by one", len(waivers)),
			Remedy:  "a person accepts the logs as they stand, once these edits are committed: `small-hook baseline`",
		}
	}
	return editConfig(ctx, req, "waive", func(_ *session.Session, data []byte) ([]byte, error) {
		return policy.AddWaivers(data, waivers, rules.Known())
	})
}

func waiverFor(e entrypoint.Excuse) (policy.Waiver, error) {
	w := policy.Waiver{Rule: e.Rule, Path: e.Path, Reason: e.Reason}
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

// editConfig edits the configuration in the root of the work tree and returns its path: edit gets its content, nil if there is
// none, and a session under that configuration, and returns the new content.
func editConfig(ctx context.Context, req session.Request, mode string, edit func(s *session.Session, data []byte) ([]byte, error)) (file string, err error) {
	_, err = req.InRepository(ctx, mode, func(s *session.Session) error {
		top, err := s.Repo.Where().WorkTree()
		if err != nil {
			return err
		}
		file = filepath.Join(top, policy.File)
		if err := s.UseRoot(top); err != nil {
			return err
		}
		edited, err := edit(s, s.Trusted)
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

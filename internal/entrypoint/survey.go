package entrypoint

import (
	"context"
	"strings"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/small"
)

// Scope is what the hooks of a repository would judge, and by what.
type Scope struct {
	// Policy says where the configuration for the next commit comes from.
	Policy string
	// Strict and Mode are what that configuration says, and the caller.
	Strict bool
	Mode   string
	// Reader names what reads the repository, and Why says why it was taken.
	Reader, Why string
	// Workspaces are the .small directories in the index that are judged.
	Workspaces []string
	// Notes say what else to know.
	Notes []string
}

// unbornDefault is the note on a server's HEAD without a branch.
const unbornDefault = "HEAD names a branch that does not exist yet: whoever pushes it first sets the configuration for every branch; " +
	"if another branch is the default one: `git symbolic-ref HEAD refs/heads/NAME`"

// Survey finds out what the next commit would be judged by.
func Survey(ctx context.Context, req session.Request) (out Scope, err error) {
	_, err = req.InRepository(ctx, "doctor", func(s *session.Session) (err error) {
		out, err = survey(ctx, s)
		return err
	})
	return out, err
}

func survey(ctx context.Context, s *session.Session) (Scope, error) {
	var out Scope
	head, err := s.Repo.Head(ctx)
	if err != nil {
		return out, err
	}
	if err := s.Trust(ctx, head, "HEAD"); err != nil {
		return out, err
	}
	version, err := s.Repo.Version(ctx)
	if err != nil {
		return out, err
	}
	out = Scope{Policy: s.Opts.Policy.Source, Strict: s.Opts.Policy.Strict || s.Req.Strict, Mode: string(s.Opts.Policy.Mode), Reader: strings.TrimSpace(s.Repo.Reader() + " " + version), Why: s.Why}
	if s.Repo.Where().Bare {
		if head == "" {
			out.Notes = append(out.Notes, unbornDefault)
		}
		return out, nil
	}
	dirs, err := s.WorkspaceDirs(ctx)
	if err != nil {
		return out, err
	}
	for _, dir := range dirs {
		if s.Opts.Policy.Judges(dir) {
			out.Workspaces = append(out.Workspaces, small.InDir(dir, ""))
		} else {
			out.Notes = append(out.Notes, small.InDir(dir, "")+" is excluded by the configuration")
		}
	}
	notes, err := s.Notes(ctx)
	out.Notes = append(out.Notes, notes...)
	return out, err
}

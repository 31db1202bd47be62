package entrypoint

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/policy"
)

// withBrought completes a report on a change whose end is tip. The change is
// judged by the trusted configuration, but one that it brings and that is not
// valid would be the trusted one next: then nothing could be judged any more,
// not even the change that corrects it. That is outcome 2 while it is still
// easy to mend.
func (s *session) withBrought(ctx context.Context, tip string, r *gate.Report) (*gate.Report, error) {
	if s.req.Config != "" || r.Verdict == gate.Error {
		return r, nil
	}
	data, found, err := s.repo.ReadFile(ctx, tip, s.configFile(), policy.MaxSize)
	if err != nil || !found || s.found && bytes.Equal(data, s.trusted) {
		return r, err
	}
	if _, err := policy.Parse(s.configFile(), data, gate.Known()); err != nil {
		r.Verdict = gate.Error
		r.Failure = &gate.Failure{
			Message: "this change brings a configuration by which nothing could be judged: " + oneLine(err),
			Remedy:  "correct it in this change; docs/configuration.md lists every key",
			Err:     err,
		}
	}
	return r, nil
}

// bringsPolicy reports whether a foreseen change is one of the configuration.
func (f *foreseen) bringsPolicy() bool {
	return slices.ContainsFunc(f.changes, func(edge []gate.Change) bool {
		return slices.ContainsFunc(edge, func(c gate.Change) bool { return c.Path == policy.File && c.New.Mode != "" })
	})
}

// wayOut adds to an invalid configuration of HEAD how to commit its correction:
// the hook goes by HEAD's and cannot judge that commit.
func wayOut(err error) error {
	var failure *gate.Failure
	var invalid *policy.InvalidError
	if !errors.As(err, &failure) || !errors.As(err, &invalid) {
		return err
	}
	return &gate.Failure{
		Message: failure.Message,
		Remedy:  "correct " + policy.File + " and commit it by itself with git commit --no-verify: hooks go by HEAD's; docs/configuration.md lists every key",
		Err:     err,
	}
}

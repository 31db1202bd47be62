package entrypoint

import (
	"context"

	"github.com/small-gate/small-gate/internal/gate"
)

// What a reader has to know where git shows something else than what is
// judged.
const (
	noteReplaced = "this repository has replace refs; the real objects are judged"
	noteGrafted  = "this repository has grafts (info/grafts); the real parents are judged"
)

// substitutes says what of the repository git shows otherwise than it is. Both
// are a person's own, are in no clone, and would let a bad change pass or a
// good one fail.
func (s *session) substitutes(ctx context.Context) ([]string, error) {
	var notes []string
	replaced, err := s.repo.ReplaceRefs(ctx)
	if err != nil {
		return nil, err
	}
	if replaced {
		notes = append(notes, noteReplaced)
	}
	grafted, err := s.repo.Grafts()
	if err != nil {
		return nil, err
	}
	if grafted {
		notes = append(notes, noteGrafted)
	}
	return notes, nil
}

// withNotes completes a report that judged something.
func (s *session) withNotes(ctx context.Context, r *gate.Report) (*gate.Report, error) {
	if r.Verdict == gate.Error || r.Examined.Commits+r.Examined.Workspaces+r.Examined.Workflows+len(r.Findings) == 0 {
		return r, nil
	}
	var err error
	r.Examined.Notes, err = s.substitutes(ctx)
	return r, err
}

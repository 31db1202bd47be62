package reconcile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/expression"
	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/small"
)

// Drive merges one file for git as Run would merge it. It has to find out first which commits git is merging; where that cannot be
// known, both sides' changes are a conflict. The error says why nothing could be found out.
func Drive(ctx context.Context, repo Repository, opts Options, in MergeInput) (Merged, error) {
	g, err := openWorkTree(repo.Where(), opts.Environ)
	if err != nil {
		return Merged{}, err
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return Merged{}, err
	}
	r := newResolving(repo, g, opts)
	if r.op, err = driving(ctx, repo, g, opts.Environ, head, in.Label); err != nil {
		return Merged{}, err
	}
	known, err := r.mergesThese(ctx, in)
	if err != nil || !known {
		return in.Merge(), err
	}
	if err := r.know(ctx); err != nil {
		return Merged{}, err
	}
	text, notes, err := r.driven(ctx, in.Path)
	if err == nil && text != nil {
		return Merged{Text: text, Notes: notes}, nil
	}
	merged := in.Merge()
	if err != nil {
		merged.Message = failure.Of(err).Message + ". " + failure.Of(err).Remedy
	}
	return merged, nil
}

// mergesThese reports whether the sides that were found are those that git merges: not, for one, where it makes one merge base of
// several.
func (r *resolving) mergesThese(ctx context.Context, in MergeInput) (bool, error) {
	if len(r.op.theirs) != 1 {
		return false, nil
	}
	ours, err := r.read(ctx, r.op.ours, in.Path)
	if err != nil {
		return false, err
	}
	theirs, err := r.read(ctx, r.op.theirs[0], in.Path)
	return err == nil && bytes.Equal(ours, in.Ours) && bytes.Equal(theirs, in.Theirs), err
}

// driven is one file after the merge, with what to know about it; nil if it is not one that is merged.
func (r *resolving) driven(ctx context.Context, path string) (text []byte, notes []string, err error) {
	dir, name, _ := small.SplitPath(path)
	a, _ := small.ArtifactOf(name)
	switch {
	case !r.opts.Policy.Judges(dir):
		return nil, nil, nil
	case a == small.Progress:
		c, _, _, err := r.sidesOf(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		resolved, err := r.combine(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		return resolved.Text, nil, nil
	case !slices.Contains(mergedArtifacts, a):
		return nil, nil, nil
	}
	done := map[small.Artifact][]byte{}
	for _, one := range mergedArtifacts {
		data, notes, err := r.mergeArtifact(ctx, dir, one, done)
		if one == a {
			return data, notes, err
		}
		if err == nil {
			done[one] = data // one that stops is git's next conflict
		}
	}
	return nil, nil, nil
}

// driving finds the sides of the operation in which git calls the merge driver. No file says what is merged before it is, so they are
// taken from the environment of a merge, from the label that git gives to the commit that it applies, and from the list of a rebase.
func driving(ctx context.Context, repo Repository, g *workTree, environ []string, head, label string) (*operation, error) {
	op := &operation{ours: side{id: head}}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if id, merged := strings.CutPrefix(name, "GITHEAD_"); merged && id != head {
			op.word = opMerge
			op.theirs = append(op.theirs, side{id: id, name: value})
		}
	}
	if op.word != "" || head == "" {
		return op, nil
	}
	applied := ""
	if m := appliedLabel().FindStringSubmatch(label); m != nil {
		applied = m[1]
	} else {
		done, err := os.ReadFile(filepath.Join(repo.Where().GitDir, "rebase-merge", "done"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, &failure.Error{Message: "cannot read what is rebased: " + err.Error(), Err: err}
		}
		lines := strings.Split(strings.TrimSpace(string(done)), "\n")
		if m := appliedLine().FindStringSubmatch(lines[len(lines)-1]); m != nil {
			applied = m[1]
		}
	}
	if applied == "" {
		return op, nil
	}
	return op, op.apply(ctx, repo, g, applied, opRebase)
}

var (
	// appliedLabel is git's label of a commit that it applies: "1c8dd23 (subject)".
	appliedLabel = expression.Of(`^([0-9a-f]{4,64}) \(`)
	// appliedLine is a line of the list of what a rebase has begun.
	appliedLine = expression.Of(`^(?:pick|p|reword|r|edit|e|squash|s|fixup|f)(?: -[cC])? ([0-9a-f]{4,64})\b`)
)

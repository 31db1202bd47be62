package gate

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/lane"
)

// The bounds of what is read to classify a change.
const (
	// laneFileSize is the size up to which a file is read, in bytes; of a larger
	// one the lines are guessed.
	laneFileSize = 8 << 20
	// laneFiles is how many files are read: with more, their number and their paths
	// say enough.
	laneFiles = 1000
	// guessedLine is how many bytes a line has where lines are guessed: of a file
	// that is too large, or no text.
	guessedLine = 80
)

// Classify finds the lane that fits what head has and base lacks, and who
// claims which one. It judges nothing.
func Classify(ctx context.Context, h History, base, head string, opts Options) (*LaneReport, error) {
	j := newJudgement(h, opts)
	commits, err := h.Commits(ctx, []string{head}, []string{base})
	if err != nil {
		return nil, err
	}
	change := laneChange{target: base, head: head, ends: true}
	if change.bases, err = h.MergeBases(ctx, base, head); err != nil {
		return nil, err
	}
	return j.suggest(ctx, change, commits)
}

// ClassifyPending is Classify for the index against its parents.
func ClassifyPending(ctx context.Context, h History, parents []string, opts Options) (*LaneReport, error) {
	return newJudgement(h, opts).suggest(ctx, laneChange{bases: parents, head: Index}, []Commit{{ID: Index, Parents: parents}})
}

func (j *judgement) suggest(ctx context.Context, change laneChange, commits []Commit) (*LaneReport, error) {
	if err := j.claimLane(ctx, change, commits); err != nil {
		return nil, err
	}
	r, err := j.classify(ctx, change)
	if err == nil && j.lane != nil {
		r.Claim = j.lane.claim
	}
	return r, err
}

// classify finds what a change shows, and which lane fits that.
func (j *judgement) classify(ctx context.Context, change laneChange) (*LaneReport, error) {
	cfg := &j.opts.Policy.Lanes
	touched, err := j.touchedFiles(ctx, change, j.countsForLane)
	if err != nil {
		return nil, err
	}
	files := make([]lane.File, 0, len(touched))
	for i, c := range touched {
		f := lane.File{
			Path: c.Path, Object: cmp.Or(c.New.Object, c.Old.Object),
			Added: c.Old.Mode == "" && !c.Old.Unmerged, Deleted: c.New.Mode == "" && !c.New.Unmerged,
		}
		switch read := i < laneFiles && textual(c.Old) && textual(c.New); {
		case c.Old.Object == c.New.Object: // its mode alone changes
		case !read:
			f.Lines = 1
		default:
			if err := j.laneTexts(ctx, c, &f); err != nil {
				return nil, err
			}
		}
		files = append(files, f)
	}
	lane.FindMoves(files)
	if slices.ContainsFunc(files, func(f lane.File) bool { return f.Declares() }) {
		tree, err := j.history.Paths(ctx, change.head)
		if err != nil {
			return nil, err
		}
		lane.DropPrograms(files, tree)
	}
	signals := lane.Signals(files, cfg)
	return &LaneReport{Signals: signals, Fits: lane.Fits(signals)}, nil
}

// laneTexts compares the two texts of a file, as far as they can be read.
func (j *judgement) laneTexts(ctx context.Context, c Change, f *lane.File) error {
	before, oldSize, err := j.laneText(ctx, c.Old)
	if err != nil {
		return err
	}
	after, newSize, err := j.laneText(ctx, c.New)
	if err != nil {
		return err
	}
	if oldSize > laneFileSize || newSize > laneFileSize || binary(before) || binary(after) {
		f.Lines = int((max(oldSize, newSize) + guessedLine - 1) / guessedLine)
		return nil
	}
	f.Read(before, after)
	return nil
}

// textual reports whether something has a content of its own, or is not there.
func textual(f File) bool { return f.Mode == "" || f.Regular() }

// laneText reads a file; nil for one that is not there, or
// is too large.
func (j *judgement) laneText(ctx context.Context, f File) ([]byte, int64, error) {
	if f.Object == "" {
		return nil, 0, nil
	}
	blob, err := j.history.Blob(ctx, f.Object, laneFileSize)
	if err == nil && blob.Data == nil && blob.Size == 0 {
		blob.Data = []byte{}
	}
	return blob.Data, blob.Size, err
}

// binary reports whether content is no text, as git sees it: there is a NUL in
// its beginning (xdiff-interface.c, buffer_is_binary).
func binary(data []byte) bool {
	const looked = 8000
	return bytes.IndexByte(data[:min(len(data), looked)], 0) >= 0
}

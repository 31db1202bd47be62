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
	// laneFiles is how many files of the work are read: with more, their number says
	// enough.
	laneFiles = 1000
	// guessedLine is how many bytes a line has where lines are guessed: of a file
	// that is too large, or no text.
	guessedLine = 80
)

// Classify finds the lane that fits what head has and base lacks, and who
// claims which one. It judges nothing.
func Classify(ctx context.Context, h History, base, head string, opts Options) (*LaneReport, error) {
	r := newRun(h, opts, scope{})
	commits, err := h.Commits(ctx, []string{head}, []string{base})
	if err != nil {
		return nil, err
	}
	if err := (lanes{r}).claimLaneOf(ctx, base, head, true, commits); err != nil {
		return nil, err
	}
	return lanes{r}.classify(ctx, r.scope.lanes[0])
}

// ClassifyPending is Classify for the index against its parents.
func ClassifyPending(ctx context.Context, h History, parents []string, opts Options) (*LaneReport, error) {
	r := newRun(h, opts, scope{tip: Tip{ID: Index}, parents: parents})
	if err := claimPending(r, ctx); err != nil {
		return nil, err
	}
	return lanes{r}.classify(ctx, r.scope.lanes[0])
}

// classify finds what a change shows, and which lane fits that.
func (r lanes) classify(ctx context.Context, s *LaneChange) (*LaneReport, error) {
	touched, err := r.touchedFiles(ctx, s)
	if err != nil {
		return nil, err
	}
	files := make([]lane.File, 0, len(touched))
	cfg, read := &r.src.policy.Lanes, 0
	for _, c := range touched {
		f := lane.File{
			Path: c.Path, Object: cmp.Or(c.New.Object, c.Old.Object),
			Added: c.Old.Mode == "" && !c.Old.Unmerged, Deleted: c.New.Mode == "" && !c.New.Unmerged,
		}
		switch {
		case c.Old.Object == c.New.Object: // its mode alone changes
		case read >= laneFiles || !textual(c.Old) || !textual(c.New) || !lane.IsWork(c.Path, cfg):
			f.Lines = 1
		default:
			read++
			if err := r.readTexts(ctx, c, &f); err != nil {
				return nil, err
			}
		}
		files = append(files, f)
	}
	lane.FindMoves(files)
	if slices.ContainsFunc(files, func(f lane.File) bool { return f.Declares() }) {
		tree, err := r.src.history.Paths(ctx, s.head)
		if err != nil {
			return nil, err
		}
		lane.DropPrograms(files, tree)
	}
	signals := lane.Signals(files, cfg)
	return &LaneReport{Claim: s.claim, Signals: signals, Fits: lane.Fits(signals)}, nil
}

// readTexts compares the two texts of a file, as far as they can be read.
func (r lanes) readTexts(ctx context.Context, c Change, f *lane.File) error {
	var texts [2][]byte
	var size int64
	for i, version := range []File{c.Old, c.New} {
		if version.Object == "" {
			continue
		}
		blob, err := r.src.history.Blob(ctx, version.Object, laneFileSize)
		if err != nil {
			return err
		}
		texts[i], size = blob.Data, max(size, blob.Size)
	}
	if size > laneFileSize || slices.ContainsFunc(texts[:], binary) {
		f.Lines = int((size + guessedLine - 1) / guessedLine)
		return nil
	}
	f.Read(texts[0], texts[1])
	return nil
}

// textual reports whether something has a content of its own, or is not there.
func textual(f File) bool { return f.Mode == "" || f.Regular() }

// binary reports whether content is no text, as git sees it: there is a NUL in
// its beginning (xdiff-interface.c, buffer_is_binary).
func binary(data []byte) bool {
	const looked = 8000
	return bytes.IndexByte(data[:min(len(data), looked)], 0) >= 0
}

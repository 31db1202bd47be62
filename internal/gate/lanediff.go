package gate

import (
	"bytes"
	"cmp"
	"context"

	"github.com/small-gate/small-gate/internal/lane"
)

// The bounds of what is read to classify a change.
const (
	// laneFileSize is the size up to which a file's lines are counted, in bytes;
	// of a larger one they are guessed.
	laneFileSize = 8 << 20
	// laneLineFiles is how many files have their lines counted: with more the
	// number of files says enough.
	laneLineFiles = 1000
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
	change := laneChange{head: head, ends: true}
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
	differs := false
	touched, err := j.touchedFiles(ctx, change, func(path string) bool {
		differs = true
		return j.countsForLane(path)
	})
	if err != nil {
		return nil, err
	}
	var tests *lane.Tests
	files, wanted := make([]lane.File, 0, len(touched)), false
	for i, c := range touched {
		f, err := j.laneFile(ctx, c, i < laneLineFiles)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		wanted = wanted || lane.NeedsTests(f, cfg)
	}
	lane.FindMoves(files)
	lane.ComparePackages(files)
	if wanted {
		paths, err := j.history.Paths(ctx, change.head)
		if err != nil {
			return nil, err
		}
		tests = lane.TestsOf(paths, cfg)
	}
	signals := lane.Signals(files, tests, cfg)
	why := lane.Why(signals, files, cfg)
	if !differs && change.head == Index {
		why = "nothing is staged"
	}
	return &LaneReport{Signals: signals, Fits: lane.Fits(signals), Why: why}, nil
}

// laneFile looks into a file as far as that says something.
func (j *judgement) laneFile(ctx context.Context, c Change, countLines bool) (lane.File, error) {
	f := lane.File{Path: c.Path, Added: c.Old.Mode == "" && !c.Old.Unmerged, Deleted: c.New.Mode == "" && !c.New.Unmerged}
	f.Object, f.Submodule = cmp.Or(c.New.Object, c.Old.Object), c.Old.Mode == modeSubmodule || c.New.Mode == modeSubmodule
	api := lane.ReadsAPI(c.Path)
	sql := lane.ReadsSQL(c.Path)
	if !countLines && !api && !sql {
		return f, nil
	}
	before, oldSize, err := j.laneText(ctx, c.Old)
	if err != nil {
		return f, err
	}
	after, newSize, err := j.laneText(ctx, c.New)
	if err != nil {
		return f, err
	}
	unread := oldSize > laneFileSize || newSize > laneFileSize || binary(before) || binary(after)
	switch {
	case c.Old.Object == c.New.Object: // its mode alone changes
	case unread:
		f.Lines = int((max(oldSize, newSize) + guessedLine - 1) / guessedLine)
		f.Schema = sql
	default:
		f.Lines = differingLines(before, after)
		f.Schema = sql && (lane.DefinesSchema(before) || lane.DefinesSchema(after))
	}
	if api {
		lookAtAPI(&f, c, before, after)
	}
	f.OwnTests = lane.HoldsTests(c.Path, after)
	return f, nil
}

// lookAtAPI finds what a file of Go offers, before and after.
func lookAtAPI(f *lane.File, c Change, before, after []byte) {
	if c.Old.Regular() {
		f.Before, _ = lane.ReadSurface(before) // what could not be read offered nothing
	}
	if c.New.Regular() && after != nil || f.Deleted {
		f.After, f.Looked = lane.ReadSurface(after)
	}
}

// laneText reads a file; nil for one that is not there, is too large, or has no
// content of its own.
func (j *judgement) laneText(ctx context.Context, f File) ([]byte, int64, error) {
	if f.Object == "" || !f.Regular() && f.Mode != "120000" {
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

// differingLines counts the lines that only one of two texts has. It does not
// depend on how a diff aligns them.
func differingLines(before, after []byte) int {
	lines := map[string]int{}
	for line := range bytes.Lines(before) {
		lines[string(line)]++
	}
	n := 0
	for line := range bytes.Lines(after) {
		if lines[string(line)] > 0 {
			lines[string(line)]--
		} else {
			n++
		}
	}
	for _, left := range lines {
		n += left
	}
	return n
}

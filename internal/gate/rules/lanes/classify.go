package lanes

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy/lane"
)

// The limits of what is read to classify a change.
const (
	// laneFileSize is the size up to which a file is read, in bytes. The lines of a larger file are estimated.
	laneFileSize = 8 << 20
	// laneFiles is the largest number of files that are read. More files make the change deep by their number alone.
	laneFiles = 1000
	// guessedLine is the estimated number of bytes of a line.
	guessedLine = 80
)

// Classify finds the lane that fits the change that head has and base lacks, and the lane that it claims. It judges nothing.
func Classify(ctx context.Context, h history.History, base, head string, opts run.Options) (*finding.LaneReport, error) {
	r := run.New(h, opts, run.Scope{})
	s, err := claimedChange(ctx, r, base, head)
	if err != nil {
		return nil, err
	}
	return classify(ctx, r, s)
}

// ClassifyPending is Classify for the index against its parents.
func ClassifyPending(ctx context.Context, h history.History, parents []string, opts run.Options) (*finding.LaneReport, error) {
	r, s := run.New(h, opts, run.Scope{Tip: history.Tip{ID: history.Index}, Parents: parents}), indexChange(parents)
	if err := findClaim(ctx, r, s); err != nil {
		return nil, err
	}
	return classify(ctx, r, s)
}

func classify(ctx context.Context, r *run.Run, s *laneChange) (*finding.LaneReport, error) {
	touched, err := changedFiles(ctx, r, s)
	if err != nil {
		return nil, err
	}
	files := make([]lane.File, 0, len(touched))
	cfg, read := settings(r), 0
	for _, c := range touched {
		f := lane.File{
			Path: c.Path, Object: cmp.Or(c.New.Object, c.Old.Object),
			Added: c.Old.Mode == "" && !c.Old.Unmerged, Deleted: c.New.Mode == "" && !c.New.Unmerged,
		}
		switch {
		case c.Old.Object == c.New.Object: // only its mode changes
		case read >= laneFiles || !isRegularOrAbsent(c.Old) || !isRegularOrAbsent(c.New) || !lane.IsWork(c.Path, cfg):
			f.Lines = 1
		default:
			read++
			if err := readTexts(ctx, r, c, &f); err != nil {
				return nil, err
			}
		}
		files = append(files, f)
	}
	lane.FindMoves(files)
	if slices.ContainsFunc(files, func(f lane.File) bool { return f.Declares() }) {
		programs, err := r.Source.History.List(ctx, s.Head, history.Matching(lane.Programs()...))
		if err != nil {
			return nil, err
		}
		var paths []string
		for _, f := range programs {
			paths = append(paths, f.Path)
		}
		lane.DropPrograms(files, paths)
	}
	signals := lane.Signals(files, cfg)
	return &finding.LaneReport{Claim: s.Claim, Signals: signals, Fits: lane.Fits(signals)}, nil
}

// readTexts compares the two texts of a file. It estimates the lines if a text is too large or binary.
func readTexts(ctx context.Context, r *run.Run, c history.Change, f *lane.File) error {
	var texts [2][]byte
	var size int64
	for i, version := range []history.File{c.Old, c.New} {
		if version.Object == "" {
			continue
		}
		blob, err := r.Source.History.Blob(ctx, version.Object, laneFileSize)
		if err != nil {
			return err
		}
		texts[i], size = blob.Data, max(size, blob.Size)
	}
	if size > laneFileSize || slices.ContainsFunc(texts[:], isBinary) {
		f.Lines = int((size + guessedLine - 1) / guessedLine)
		return nil
	}
	f.Read(texts[0], texts[1])
	return nil
}

// isRegularOrAbsent reports whether a file is regular, or absent: it is no link and no submodule.
func isRegularOrAbsent(f history.File) bool { return f.Mode == "" || f.Regular() }

// isBinary reports whether content is binary by git's test: it has a NUL near its beginning
// (xdiff-interface.c, buffer_is_binary).
func isBinary(data []byte) bool {
	const looked = 8000
	return bytes.IndexByte(data[:min(len(data), looked)], 0) >= 0
}

package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/small"
)

// ReplayID is what a workspace's declared intent comes to, as a fingerprint: 64
// lower-case hex digits each.
type ReplayID struct {
	// Canonical is SHA-256 over the canonical JSON (RFC 8785) of one object with
	// the members intent, plan and constraints, each a whole document. Neither
	// the order of keys nor comments nor quoting change it.
	Canonical string
	// Reference is what the reference program writes into a handoff by itself:
	// SHA-256 over the bytes of intent, plan and, if there, constraints, with line
	// feeds as line endings, joined by one line feed.
	Reference string
	// Handoff and Source are the value that the handoff has, and what it says of
	// where that is from; both are empty where there is none.
	Handoff, Source string
}

// Matches says which of the fingerprints the handoff's value is: "canonical",
// "reference", or nothing. Upper and lower case are the same.
func (r ReplayID) Matches() string {
	switch {
	case r.Handoff == "":
		return ""
	case strings.EqualFold(r.Handoff, r.Canonical):
		return "canonical"
	case strings.EqualFold(r.Handoff, r.Reference):
		return "reference"
	}
	return ""
}

// ReplayIDOf computes the fingerprints of the workspace in one directory of a
// tree. Intent and plan must be there, and what is there must be readable.
func ReplayIDOf(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) (ReplayID, error) {
	opts = opts.WithDefaults()
	files, err := tree.List(ctx, revision, history.Workspaces(dir))
	if err != nil {
		return ReplayID{}, err
	}
	var out ReplayID
	declared := &small.Value{Kind: small.Map}
	var raw [][]byte
	for _, a := range []small.Artifact{small.Intent, small.Plan, small.Constraints} {
		data, doc, err := declaration(ctx, tree, files, a.Path(dir), opts.Limits())
		if err != nil {
			return ReplayID{}, err
		}
		if doc == nil && a == small.Constraints {
			continue
		}
		if doc == nil {
			return ReplayID{}, &failure.Error{Message: a.Path(dir) + " is missing; the replay id is computed from it", Remedy: "if it was deleted: `small-hook restore`; else name the workspace's directory with --dir"}
		}
		raw = append(raw, lineFeeds(data))
		declared.Fields = append(declared.Fields, small.Field{Key: string(a), Value: doc.Root})
	}
	out.Canonical = hexSum([]byte(declared.Canonical()))
	out.Reference = hexSum(bytes.Join(raw, []byte("\n")))
	_, doc, err := declaration(ctx, tree, files, small.Handoff.Path(dir), opts.Limits())
	if err != nil || doc == nil {
		return out, err
	}
	id := doc.Root.Get("replayId")
	out.Handoff, _ = id.Get("value").Str()
	out.Source, _ = id.Get("source").Str()
	return out, nil
}

// declaration reads one file of a workspace; nothing where it is absent.
func declaration(ctx context.Context, tree history.Tree, files []history.File, path string, limits small.Limits) ([]byte, *small.Document, error) {
	for _, f := range files {
		if f.Path != path {
			continue
		}
		data, problem, err := read.ReadFile(ctx, tree, f, limits)
		if err != nil {
			return nil, nil, err
		}
		if problem != nil {
			return nil, nil, &failure.Error{Message: path + ": " + problem.Message, Remedy: problem.Hint}
		}
		doc, problems := small.Parse(data, limits)
		if doc == nil {
			return nil, nil, &failure.Error{Message: fmt.Sprintf("%s:%d: %s", path, problems[0].Pos.Line, problems[0].Message), Remedy: problems[0].Hint}
		}
		return data, doc, nil
	}
	return nil, nil, nil
}

// lineFeeds makes every line end with a line feed alone.
func lineFeeds(data []byte) []byte {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

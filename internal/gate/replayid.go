package gate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
	"github.com/small-gate/small-gate/internal/small/yamltext"
)

// ReplayIDOf computes the replay id that the reference program writes into the handoff of the workspace in one directory of a tree: SHA-256 over the
// bytes of intent, plan and, if there, constraints, with line feeds as line endings, joined by one line feed; 64 lower-case hex digits. Intent and
// plan must exist, and every file that exists must be readable.
func ReplayIDOf(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) (string, error) {
	opts = opts.WithDefaults()
	files, err := tree.List(ctx, revision, history.Workspaces(dir))
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if f.Path != small.InDir(dir, records.ProfileFile) {
			continue
		}
		if is, err := read.NewSource(tree, nil, read.Basis{Policy: opts.Policy}).IsProfile2(ctx, f); err != nil || is {
			return "", cmp.Or(err, records.UnsupportedCommand("small-hook replay-id", "2.0.0 has no replay ids: `small session start --help` says how work begins"))
		}
	}
	var declared [][]byte
	for _, a := range []small.Artifact{small.Intent, small.Plan, small.Constraints} {
		data, doc, err := readDeclaration(ctx, tree, files, a.Path(dir), opts.Limits())
		if err != nil {
			return "", err
		}
		if doc == nil && a == small.Constraints {
			continue
		}
		if doc == nil {
			return "", &failure.Error{Message: a.Path(dir) + " is missing; the replay id is computed from it", Remedy: "if it was deleted: `small-hook restore`; else name the workspace's directory with --dir"}
		}
		declared = append(declared, withLineFeeds(data))
	}
	sum := sha256.Sum256(bytes.Join(declared, []byte("\n")))
	return hex.EncodeToString(sum[:]), nil
}

// readDeclaration reads and parses one file of a workspace; nil if it is absent.
func readDeclaration(ctx context.Context, tree history.Tree, files []history.File, path string, limits small.Limits) ([]byte, *small.Document, error) {
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

// withLineFeeds makes every line end with only a line feed.
func withLineFeeds(data []byte) []byte {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
}

// templateIntent is the placeholder that `small init` and `small reset` write as the intent.
const templateIntent = "Define project intent"

// Rewritten is a file with new content.
type Rewritten struct {
	Path    string
	Content []byte
}

// NewRun returns the replay id of the workspace in one directory of a tree, and its workspace file and handoff with this id as their run. A file
// that already names this run is left out; nothing else in the files changes. It is an error if the log says that the run is over, or if a file
// cannot be read or edited.
func NewRun(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) (string, []Rewritten, error) {
	id, err := ReplayIDOf(ctx, tree, revision, dir, opts)
	if err != nil {
		return id, nil, err
	}
	opts = opts.WithDefaults()
	files, err := tree.List(ctx, revision, history.Workspaces(dir))
	if err != nil {
		return id, nil, err
	}
	read := func(a small.Artifact, remedy string) ([]byte, *small.Document, error) {
		data, doc, err := readDeclaration(ctx, tree, files, a.Path(dir), opts.Limits())
		if err == nil && doc == nil {
			err = &failure.Error{Message: a.Path(dir) + " is missing", Remedy: remedy}
		}
		return data, doc, err
	}
	_, intent, err := read(small.Intent, "see what the workspace lacks: `small-hook check`")
	if err != nil {
		return id, nil, err
	}
	if text, _ := intent.Root.Get("intent").Str(); text == templateIntent {
		return id, nil, &failure.Error{
			Message: fmt.Sprintf("the intent is still that of the template (%q)", templateIntent),
			Remedy:  "a person writes the new one first, into " + wording.ShellWord(small.Intent.Path(dir)) + "; then run small-hook replay-id --write",
		}
	}
	_, doc, err := read(small.Progress, "see what the workspace lacks: `small-hook check`")
	if err != nil {
		return id, nil, err
	}
	log, problems := ledger.LedgerOf(doc)
	switch {
	case log == nil:
		return id, nil, &failure.Error{Message: small.Progress.Path(dir) + ": " + problems[0].Message, Remedy: problems[0].Hint}
	case log.RunOver(id):
		return id, nil, &failure.Error{
			Message: fmt.Sprintf("intent, plan and constraints are as they were in the run %.12s…, which is over: a new run would have the same id", id),
			Remedy: "a person writes the new intent first, into " + wording.ShellWord(small.Intent.Path(dir)) + "; or, if it stays, add the new run's first task to the plan with small plan --add; " +
				"then run small-hook replay-id --write",
		}
	}
	var out []Rewritten
	for _, f := range []struct {
		artifact small.Artifact
		remedy   string
		key      string
		members  []yamltext.Member
	}{
		{small.Workspace, "run `small fix workspace`, then `small-hook replay-id --write`", "run", []yamltext.Member{{Key: "replay_id", Value: id}}},
		{small.Handoff, "run `small start`, then `small-hook replay-id --write`", "replayId", []yamltext.Member{{Key: "value", Value: id}, {Key: "source", Value: "auto"}}},
	} {
		data, _, err := read(f.artifact, f.remedy)
		if err != nil {
			return id, nil, err
		}
		path := f.artifact.Path(dir)
		content, err := yamltext.SetMembers(data, f.key, f.members, opts.Limits())
		if err != nil {
			return id, nil, &failure.Error{Message: fmt.Sprintf("%s was not changed: %v", path, err), Remedy: "write the replay id there by hand: " + id, Err: err}
		}
		if !bytes.Equal(content, data) {
			out = append(out, Rewritten{Path: path, Content: content})
		}
	}
	return id, out, nil
}

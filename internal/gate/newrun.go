package gate

import (
	"bytes"
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/yamltext"
)

// templateIntent is the intent that `small init` and `small reset` leave to be written.
const templateIntent = "Define project intent"

// Rewritten is a file with new content.
type Rewritten struct {
	Path    string
	Content []byte
}

// NewRun are the workspace file and the handoff of the workspace in one directory of a tree, as far as they do not name the run that
// the reference program's replay id stands for; and that id. Nothing else in the files changes. It is an error if the log has had the
// run and it is over, and if a file cannot be read or is written in a way that cannot be changed.
func NewRun(ctx context.Context, tree history.Tree, revision, dir string, opts run.Options) (ReplayID, []Rewritten, error) {
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
		data, doc, err := declaration(ctx, tree, files, a.Path(dir), opts.Limits())
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
			Remedy:  "a person writes the new one first, into " + small.Intent.Path(dir) + "; then run small-hook replay-id --write",
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
	case log.RunOver(id.Reference):
		return id, nil, &failure.Error{
			Message: fmt.Sprintf("intent, plan and constraints are as they were in the run %.12s…, which is over: a new run would have the same id", id.Reference),
			Remedy: "a person writes the new intent first, into " + small.Intent.Path(dir) + "; or, if it stays, add the new run's first task to the plan with small plan --add; " +
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
		{small.Workspace, "run `small fix workspace`, then `small-hook replay-id --write`", "run", []yamltext.Member{{Key: "replay_id", Value: id.Reference}}},
		{small.Handoff, "run `small start`, then `small-hook replay-id --write`", "replayId", []yamltext.Member{{Key: "value", Value: id.Reference}, {Key: "source", Value: "auto"}}},
	} {
		data, _, err := read(f.artifact, f.remedy)
		if err != nil {
			return id, nil, err
		}
		path := f.artifact.Path(dir)
		content, err := yamltext.SetMembers(data, f.key, f.members, opts.Limits())
		if err != nil {
			return id, nil, &failure.Error{Message: fmt.Sprintf("%s was not changed: %v", path, err), Remedy: "write the replay id there by hand: " + id.Reference, Err: err}
		}
		if !bytes.Equal(content, data) {
			out = append(out, Rewritten{Path: path, Content: content})
		}
	}
	return id, out, nil
}

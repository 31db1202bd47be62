package githistory

import (
	"context"
	"fmt"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small/schema"
)

// ReadFile reads one regular file of a revision. found is false if nothing is at the path. It fails if the path has a conflict or is no regular
// file, or if the file has more than limit bytes.
func ReadFile(ctx context.Context, tree history.Tree, revision, path string, limit int64) (data []byte, found bool, err error) {
	if r, ok := tree.(*Repo); ok && r.headHasNoConfig && revision == r.head && path == policy.File {
		return nil, false, nil
	}
	// The path may be a directory, so list what is inside it, too.
	files, err := tree.List(ctx, revision, history.Matching(policy.LiteralPattern(path)+"/**"))
	if err != nil || len(files) == 0 {
		return nil, false, err
	}
	switch f := files[0]; {
	case f.Unmerged:
		err = &failure.Error{Message: fmt.Sprintf("%s has an unresolved conflict", wording.Printable(path)), Remedy: "resolve it, then `git add` the file"}
	case f.Path != path || !f.Regular():
		err = &failure.Error{Message: fmt.Sprintf("%s is not a regular file", wording.Printable(path)), Remedy: "replace it with a file"}
	}
	if err != nil {
		return nil, false, err
	}
	blob, err := tree.Blob(ctx, files[0].Object, limit)
	if err == nil && blob.Data == nil {
		remedy := "raise the limit: --max-file-size BYTES, or limits: {file_size: BYTES} in " + policy.File
		if path == policy.File || limit == schema.MaxGiven { // the limit is fixed; a log, in contrast, must not get shorter
			remedy = "make the file smaller"
		}
		err = &failure.Error{Message: fmt.Sprintf("%s has %d bytes, more than the limit of %d", wording.Printable(path), blob.Size, limit), Remedy: remedy}
	}
	return blob.Data, err == nil, err
}

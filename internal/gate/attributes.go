package gate

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// attributed is a tree that can tell which files of attributes it has. A
// directory of files cannot: git's attributes come with a repository.
type attributed interface {
	Attributes(ctx context.Context, revision string, dirs ...string) ([]File, error)
}

// AttributePaths are the paths at which git looks for attributes of the files of
// workspaces: in each one's .small, beside it, and above, in order of path.
func AttributePaths(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		for at := small.InDir(dir, ""); ; at = path.Dir(at) {
			if name := path.Join(at, policy.AttributesFile); !slices.Contains(out, name) {
				out = append(out, name)
			}
			if at == "." {
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

// maxAttributes is the largest file of attributes that is read, in bytes.
const maxAttributes = 1 << 20

// noteUnions finds out which files of workspaces git would merge by joining both
// sides' lines.
func (r *run) noteUnions(ctx context.Context, revision string, dirs []string) error {
	from, ok := r.src.tree.(attributed)
	if !ok || len(dirs) == 0 || r.src.history != nil && revision != r.scope.tip.ID {
		return nil
	}
	files, err := from.Attributes(ctx, revision, dirs...)
	if err != nil {
		return err
	}
	var all []policy.Attributes
	for _, f := range files {
		if !f.Regular() || f.Unmerged {
			continue // git does not read it either
		}
		blob, err := r.src.tree.Blob(ctx, f.Object, maxAttributes)
		if err != nil {
			return err
		}
		all = append(all, policy.Attributes{Path: f.Path, Data: blob.Data})
	}
	// The nearer file counts more.
	slices.SortStableFunc(all, func(a, b policy.Attributes) int {
		return strings.Count(a.Path, "/") - strings.Count(b.Path, "/")
	})
	for _, dir := range dirs {
		for _, a := range small.Artifacts {
			said := policy.MergeAttribute(all, a.Path(dir))
			if said.Value == "union" {
				r.scope.unions = append(r.scope.unions, union{said: said, path: a.Path(dir)})
			}
		}
	}
	return nil
}

// union is a file that git would merge by joining lines, and where that is said.
type union struct {
	said policy.Said
	path string
}

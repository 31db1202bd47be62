package gate

import (
	"context"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/lane"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// basis is what reading depends on beside the content.
type basis struct {
	policy *policy.Policy
	// kinds are the workspace kinds that are accepted.
	kinds  []string
	now    time.Time
	limits small.Limits
	// trusted is the commit whose logs say which baselines are in force.
	trusted string
}

// source reads a tree, or a history, for one judgement, and keeps what it has read.
type source struct {
	basis
	tree Tree
	// history is nil where there is only one tree.
	history History

	// ledgers reads logs, switches reads records of jobs as ledgers.
	ledgers, switches *ledgers
	equals            map[string]equivalence
	ancestry          *ancestry
	// baselines are those in force, once they are known; mismatched are those that
	// are not.
	baselines      []*baseline
	baselinesKnown bool
	mismatched     []*policy.Baseline
	// signature holds the one that was read last, by its revision.
	signatures map[string]Signature
	// workspaces were read, by revision and directory.
	workspaces map[[2]string]*Workspace
}

func newSource(tree Tree, h History, b basis) *source {
	src := &source{
		basis: b, tree: tree, history: h,
		ledgers: newLedgers(tree, b.limits), switches: newLedgers(tree, b.limits),
		equals: map[string]equivalence{}, ancestry: newAncestry(), workspaces: map[[2]string]*Workspace{},
	}
	src.switches.switches = true
	return src
}

// equal returns what waivers say about one log, whatever its path is and was.
func (src *source) equal(paths ...string) equivalence {
	key := strings.Join(paths, "\x00")
	eq, known := src.equals[key]
	if !known {
		eq = equivalenceFor(src.policy, src.now, paths...)
		src.equals[key] = eq
	}
	return eq
}

// judges reports whether a path belongs to a workspace that is to be judged.
func (src *source) judges(path string) bool {
	dir, ok := small.WorkspaceOf(path)
	return ok && src.policy.Judges(dir)
}

// isLedger reports whether a path is a progress file.
func isLedger(path string) bool {
	_, name, ok := small.SplitPath(path)
	return ok && name == small.Progress.FileName()
}

// workspaceAt reads one workspace as of a commit.
func (src *source) workspaceAt(ctx context.Context, revision, dir string) (*Workspace, error) {
	files, err := src.tree.Files(ctx, revision, dir)
	if err != nil {
		return nil, err
	}
	return src.readWorkspace(ctx, dir, files)
}

// workspaceOnce is workspaceAt for a revision that is asked about again and again.
func (src *source) workspaceOnce(ctx context.Context, revision, dir string) (*Workspace, error) {
	key := [2]string{revision, dir}
	if known := src.workspaces[key]; known != nil {
		return known, nil
	}
	w, err := src.workspaceAt(ctx, revision, dir)
	if err == nil {
		src.workspaces[key] = w
	}
	return w, err
}

// readWorkspace reads a workspace, and what of its log a baseline accepts.
func (src *source) readWorkspace(ctx context.Context, dir string, files []File) (*Workspace, error) {
	w := &Workspace{Dir: dir, Files: files, Kinds: src.kinds, artifacts: map[small.Artifact]*artifact{}}
	for _, f := range files {
		_, name, _ := small.SplitPath(f.Path)
		a, ok := small.ArtifactOf(name)
		if !ok {
			continue
		}
		art, err := src.artifact(ctx, a, f)
		if err != nil {
			return nil, err
		}
		w.artifacts[a] = art
	}
	if art := w.artifacts[small.Progress]; art != nil && art.log != nil {
		var err error
		if w.baseline, err = src.acceptedOf(ctx, art.path, art.log.Ledger); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// artifact loads and parses one file of a workspace. A progress file that was parsed
// last is not parsed again.
func (src *source) artifact(ctx context.Context, a small.Artifact, f File) (*artifact, error) {
	art := &artifact{path: f.Path, object: f.Object}
	if a == small.Progress {
		if art.doc, art.log = src.ledgers.document(f); art.doc != nil {
			art.problems = small.CheckSchema(a, art.doc, src.policy.Extensions...)
			return art, nil
		}
	}
	data, problem, err := readFile(ctx, src.tree, f, src.limits)
	if err != nil || problem != nil {
		if problem != nil {
			art.problems = []small.Problem{*problem}
		}
		return art, err
	}
	art.doc, art.problems = small.Parse(data, src.limits)
	if art.doc == nil {
		return art, nil
	}
	art.problems = small.CheckSchema(a, art.doc, src.policy.Extensions...)
	if a == small.Progress {
		art.log, _ = small.LogOf(art.doc, data) // a ledger that cannot be read does not fit the schema either
	}
	return art, nil
}

// root reads a file as a document; nil where it is absent or cannot be read as
// one.
func (src *source) root(ctx context.Context, f File) (*small.Value, error) {
	if f.Mode == "" || f.Unmerged {
		return nil, nil
	}
	data, problem, err := readFile(ctx, src.tree, f, src.limits)
	if err != nil || problem != nil {
		return nil, err
	}
	doc, _ := small.Parse(data, src.limits)
	if doc == nil {
		return nil, nil
	}
	return doc.Root, nil
}

// record reads a file as a record; nil where it is none.
func (src *source) record(ctx context.Context, f File) (*lane.Record, error) {
	if f.Mode == "" || f.Unmerged {
		return nil, nil
	}
	data, problem, err := readFile(ctx, src.tree, f, src.limits)
	if err != nil || problem != nil {
		return nil, err
	}
	r, _ := lane.ParseRecord(f.Path, data, src.limits)
	return r, nil
}

// signature reads a commit's author and message, once.
func (src *source) signature(ctx context.Context, revision string) (Signature, error) {
	if known, ok := src.signatures[revision]; ok {
		return known, nil
	}
	s, err := src.history.Signature(ctx, revision)
	if err == nil {
		src.signatures = map[string]Signature{revision: s} // commits are judged one after the other
	}
	return s, err
}

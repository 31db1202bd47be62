// Package read makes ledgers and workspaces from the files of a history. It reads each object once.
// It also finds the versions that a later log has to continue, the logs that moved, and
// what waivers and baselines accept.
package read

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/schema"
)

// Basis is everything besides the files that decides what a Source reads and accepts.
type Basis struct {
	Policy *policy.Policy
	// Kinds are the accepted workspace kinds.
	Kinds  []string
	Now    time.Time
	Limits small.Limits
	// Trusted is the commit whose logs say which baselines are active.
	Trusted string
	// Cache is how many bytes of logs may stay in memory; 0 means defaultMaxBytes.
	Cache int
	// Compared holds edges, and the changes on them that the caller has already read. They are changes of the files that this configuration judges. If
	// Compared is empty, Changes keeps here what it reads first.
	Compared history.Compared
}

// Source reads a tree, or a history, for one judgement, and caches what it has read.
type Source struct {
	Basis
	Tree history.Tree
	// History is nil if there is only one tree.
	History history.History

	// ProgressReader reads the protocol's own logs, the progress files.
	ProgressReader *logReader
	// readers holds one reader for each format that was needed so far, by the format's key; see ReaderOf. equivalences holds what
	// EquivalenceByWaivers has returned, by the log's paths.
	readers      map[string]*logReader
	equivalences map[string]ledger.Equivalence
	ancestry     *ancestry
	// baselines are the active baselines, once baselinesKnown is true. Mismatched holds the configuration's other baselines: those whose log does
	// not begin with them.
	baselines      []*baseline
	baselinesKnown bool
	Mismatched     []*policy.Baseline
	// A since commit is the one that `since` names in a stanza: the log is judged only after it. sinceHistories holds what each since commit
	// accepts, by commit and path; sinceChecked holds those that CheckSince has let pass.
	sinceHistories map[string]*acceptedHistory
	sinceChecked   map[string]bool
	// folderSearches holds, by folder, stanza and heads, what was found of the approved rewrites of folders.
	folderSearches map[string]*folderSearch
	// profile2 holds the directories whose workspace has the profile 2.0.0 on any edge; see noteProfiles. profiles remembers, by directory
	// and commit, whether the workspace has it there. edgeProfiles says the same of each edge of the commit that is judged now; see findProfiles.
	profile2     map[string]bool
	profiles     map[string]map[string]bool
	edgeProfiles map[string][]edgeProfile
	// signatures holds only the signature that was read last, by revision.
	signatures map[string]history.Signature
	// sides holds the workspaces that Side has read, by revision and directory.
	sides map[[2]string]side
	// searches remembers where the versions before and after approved rewrites were found.
	searches map[searchKey]searchResults
}

// NewSource makes a Source that reads from a tree; h is nil if the tree has no history.
func NewSource(tree history.Tree, h history.History, b Basis) *Source {
	src := &Source{
		Basis: b, Tree: tree, History: h,
		ProgressReader: newLogReader(tree, b.Limits, b.Cache, progressFormat),
		equivalences:   map[string]ledger.Equivalence{}, ancestry: newAncestry(), sides: map[[2]string]side{}, searches: map[searchKey]searchResults{},
		sinceHistories: map[string]*acceptedHistory{}, folderSearches: map[string]*folderSearch{}, sinceChecked: map[string]bool{}, profile2: map[string]bool{}, profiles: map[string]map[string]bool{},
	}
	src.readers = map[string]*logReader{"": src.ProgressReader}
	return src
}

// EquivalenceByWaivers returns what waivers say about a log: which entries count as equal, which may be missing, and which rewrites are approved.
// paths are where the log is and was.
func (src *Source) EquivalenceByWaivers(paths ...string) ledger.Equivalence {
	key := strings.Join(paths, "\x00")
	eq, known := src.equivalences[key]
	if !known {
		eq = equivalenceFor(src.Policy, src.Now, paths...)
		src.equivalences[key] = eq
	}
	return eq
}

// Judges reports whether a path belongs to a workspace that is judged.
func (src *Source) Judges(path string) bool {
	dir, ok := small.WorkspaceOf(path)
	return ok && src.Policy.Judges(dir)
}

// IsProgress reports whether a path is a progress file.
func IsProgress(path string) bool {
	_, name, ok := small.SplitPath(path)
	return ok && name == small.Progress.FileName()
}

// LogAt reads the log at a path of a revision; nil if there is none.
func (src *Source) LogAt(ctx context.Context, revision, path string) (*LedgerFile, error) {
	files, err := src.Tree.List(ctx, revision, history.At(path))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	return src.ReaderOf(path).Read(ctx, files[0], nil)
}

// ReadWorkspace reads a workspace and counts the entries of its log that a baseline accepts.
func (src *Source) ReadWorkspace(ctx context.Context, dir string, files []history.File) (*Workspace, error) {
	w := &Workspace{Dir: dir, Files: files, Kinds: src.Kinds, Artifacts: map[small.Artifact]*Artifact{}}
	for _, f := range files {
		_, name, _ := small.SplitPath(f.Path)
		a, ok := small.ArtifactOf(name)
		if !ok {
			continue
		}
		art, err := src.readArtifact(ctx, a, f)
		if err != nil {
			return nil, err
		}
		w.Artifacts[a] = art
	}
	if art := w.Artifacts[small.Progress]; art != nil && art.Log != nil {
		var err error
		if w.Baseline, err = src.countAccepted(ctx, art.Path, art.Log.Ledger); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// readArtifact reads and parses one file of a workspace, and checks it with its schema.
func (src *Source) readArtifact(ctx context.Context, a small.Artifact, f history.File) (*Artifact, error) {
	art := &Artifact{Path: f.Path, Object: f.Object}
	if a == small.Progress {
		if art.Doc, art.Log = src.ProgressReader.lastDocument(f); art.Doc != nil {
			art.Problems = schema.CheckArtifact(a, art.Doc, src.Policy.Extensions...)
			return art, nil
		}
	}
	data, problem, err := ReadFile(ctx, src.Tree, f, src.Limits)
	if err != nil || problem != nil {
		if problem != nil {
			art.Problems = []small.Problem{*problem}
		}
		return art, err
	}
	parse := small.Parse
	if a == small.Workspace {
		parse = small.ParseWorkspace
	}
	art.Doc, art.Problems = parse(data, src.Limits)
	if art.Doc == nil {
		return art, nil
	}
	art.Problems = schema.CheckArtifact(a, art.Doc, src.Policy.Extensions...)
	if a == small.Progress {
		art.Log, _ = ledger.LogOf(art.Doc, data) // if this fails, the schema was broken too, and art.Problems says so
	}
	return art, nil
}

// Document reads a file as a document; nil if the file is absent or is no document.
func (src *Source) Document(ctx context.Context, f history.File) (*small.Value, error) {
	if f.Mode == "" || f.Unmerged {
		return nil, nil
	}
	data, problem, err := ReadFile(ctx, src.Tree, f, src.Limits)
	if err != nil || problem != nil {
		return nil, err
	}
	doc, _ := small.Parse(data, src.Limits)
	if doc == nil {
		return nil, nil
	}
	return doc.Root, nil
}

// Signature reads a commit's author, date and message. It remembers the last answer.
func (src *Source) Signature(ctx context.Context, revision string) (history.Signature, error) {
	if known, ok := src.signatures[revision]; ok {
		return known, nil
	}
	s, err := src.History.Signature(ctx, revision)
	if err == nil {
		src.signatures = map[string]history.Signature{revision: s} // one is enough, because commits are judged one after the other
	}
	return s, err
}

// Changes returns the changes of judged files on each edge. If all edges have the same child, and Compared is empty, it keeps them in Compared: several
// passes ask for the edges of a commit that is judged alone.
func (src *Source) Changes(ctx context.Context, edges []history.Edge) ([][]history.Change, error) {
	changes := src.Compared.Changes
	if src.Compared.Edges == nil || !slices.Equal(edges, src.Compared.Edges) {
		var err error
		if changes, err = src.History.Diff(ctx, edges, history.Judged(src.Policy)); err != nil {
			return nil, err
		}
		other := func(e history.Edge) bool { return e.Child != edges[0].Child }
		if src.Compared.Edges == nil && len(edges) > 0 && !slices.ContainsFunc(edges, other) {
			src.Compared = history.Compared{Edges: edges, Changes: changes}
		}
	}
	return changes, src.noteProfiles(ctx, edges, changes)
}

// Commits lists the commits that are reachable from include and not from exclude, in
// the order in which they are judged.
func (src *Source) Commits(ctx context.Context, include, exclude []string) ([]history.Commit, error) {
	commits, err := src.History.Commits(ctx, include, exclude)
	return history.InOrder(commits), err
}

// ChangesOf returns the changes of judged files for each commit, edge by edge.
func (src *Source) ChangesOf(ctx context.Context, commits []history.Commit) ([][][]history.Change, error) {
	var edges []history.Edge
	for _, c := range commits {
		edges = append(edges, history.EdgesOf(c.ID, c.Parents)...)
	}
	changes, err := src.Changes(ctx, edges)
	if err != nil {
		return nil, err
	}
	src.noteNewest(changes)
	out := make([][][]history.Change, len(commits))
	for i, c := range commits {
		n := max(len(c.Parents), 1)
		out[i], changes = changes[:n], changes[n:]
	}
	return out, nil
}

// noteNewest tells each log's reader which version of the log is the newest one on some edges. The edges are in the order of their commits.
func (src *Source) noteNewest(changes [][]history.Change) {
	seen := map[string]bool{}
	for _, edge := range slices.Backward(changes) {
		for _, c := range edge {
			if c.New.Mode != "" && !seen[c.Path] && src.IsLog(c.Path) {
				seen[c.Path] = true
				src.ReaderOf(c.Path).noteNewest(c.New)
			}
		}
	}
}

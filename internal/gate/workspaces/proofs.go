package workspaces

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/small"
)

// maxProof is the size in bytes of the longest command that the protocol's own program accepts as a proof.
const maxProof = 1 << 20

// proofPaths returns where the whole command of an entry may be, if the entry has only a summary: in the cache of the protocol's own program, which
// git ignores, and in the folder that is committed. It returns nil for an entry that needs no proof.
func proofPaths(dir string, entry *small.Value) []string {
	if entry.Get("command_summary_version") == nil {
		return nil
	}
	ref, _ := entry.Get("command_ref").Str()
	below, cached := strings.CutPrefix(ref, ".small-cache/")
	if !cached || path.Clean(ref) != ref {
		below = path.Join("logs", "REPLAY_ID", "commands", "TIME.txt") // the entry does not say where
	}
	return []string{path.Join(dir, ".small-cache", below), path.Join(dir, ".small-command-proofs", below)}
}

// findProofs returns the digests of the commands that prove the summaries of a workspace's entries, by path. A file that cannot be a proof has an
// empty digest.
func findProofs(ctx context.Context, r *run.Run, w *read.Workspace, revision string) (map[string]string, error) {
	var paths []string
	entries, _ := w.Entries()
	for _, e := range entries {
		paths = append(paths, proofPaths(w.Dir, e)...)
	}
	if len(paths) == 0 {
		return nil, nil
	}
	slices.Sort(paths)
	files, err := r.Source.Tree.List(ctx, revision, history.At(slices.Compact(paths)...))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, f := range files {
		data, problem, err := read.ReadFile(ctx, r.Source.Tree, f, small.Limits{MaxFileSize: maxProof})
		if err != nil {
			return nil, err
		}
		out[f.Path] = ""
		if problem == nil {
			sum := sha256.Sum256(data)
			out[f.Path] = hex.EncodeToString(sum[:])
		}
	}
	return out, nil
}

// checkCommandProof reports summaries of commands whose proof is missing, as warnings, since the cache is not in every clone; and proofs of another
// command.
func checkCommandProof(w *read.Workspace, r *rule.Reporter) {
	entries, first := w.Entries()
	for i, e := range entries {
		paths := proofPaths(w.Dir, e)
		if len(paths) == 0 {
			continue
		}
		want, _ := e.Get("command_sha256").Str()
		at := e.Get("command_summary_version").Pos
		f := finding.Finding{
			Path: w.Path(small.Progress), Line: at.Line, Column: at.Column, Subject: fmt.Sprintf("entries.%d.command_ref", first+i), Severity: finding.SeverityWarning,
			Message: fmt.Sprintf("entry %d has only a summary of its command, and the whole command is not here", first+i+1),
			Fix:     "put the command's exact bytes, without a line end of your own, into " + paths[1] + ", and commit that file, unless there is a secret in it",
		}
		found := false
		for _, p := range paths {
			sum, here := w.Proofs[p]
			if found = found || here; here && (sum == "" || sum != want) {
				f.Severity = finding.SeverityError
				f.Message = fmt.Sprintf("%s is not the command of entry %d: its sha256 is not %q", p, first+i+1, want)
				f.Fix = "put the command's exact bytes into the file, without a line end of your own; the entry stays as it is"
			}
		}
		if !found || f.Severity == finding.SeverityError {
			r.Add(f)
		}
	}
}

package read

import (
	"context"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// profileTree is a tree in which one revision has a profile of 2.0.0, and the others have no files.
type profileTree struct{ migrated string }

func (t profileTree) List(_ context.Context, revision string, _ history.Filter) ([]history.File, error) {
	if revision != t.migrated {
		return nil, nil
	}
	return []history.File{{Path: small.InDir("", records.ProfileFile), Mode: history.ModePlain, Object: "profile"}}, nil
}

func (profileTree) Blob(context.Context, string, int64) (history.Blob, error) {
	data := []byte(`{"small_version":"2.0.0"}`)
	return history.Blob{Size: int64(len(data)), Data: data}, nil
}

// A merge of a migrated branch with one that is not deletes the profile and the log of 1.0.0. Whichever parent comes first, the workspace still counts
// as one of 2.0.0 in the next commit.
func TestMergeWithoutProfile(t *testing.T) {
	profile, log := small.InDir("", records.ProfileFile), small.Progress.Path("")
	deleted := func(path string) []history.Change {
		return []history.Change{{Path: path, Old: history.File{Path: path, Mode: history.ModePlain, Object: "old"}}}
	}
	edges := map[string][]history.Change{"migrated": deleted(profile), "other": deleted(log)}
	for _, parents := range [][]string{{"migrated", "other"}, {"other", "migrated"}} {
		src := NewSource(profileTree{"migrated"}, nil, Basis{Policy: policy.Default()})
		src.profile2[""] = true
		if err := src.findProfiles(t.Context(), history.Commit{ID: "merge", Parents: parents}, [][]history.Change{edges[parents[0]], edges[parents[1]]}); err != nil {
			t.Fatal(err)
		}
		if err := src.findProfiles(t.Context(), history.Commit{ID: "next", Parents: []string{"merge"}}, [][]history.Change{nil}); err != nil {
			t.Fatal(err)
		}
		if e := src.edgeProfiles[""][0]; !e.before || !e.after {
			t.Errorf("after a merge of %v, the workspace counts as %+v", parents, e)
		}
	}
}

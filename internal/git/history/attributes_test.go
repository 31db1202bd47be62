package githistory_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// Both readers list exactly the attributes files that affect a workspace, in a commit and in the index, even a sparse one.
func TestAttributes(t *testing.T) {
	gittest.Long(t)
	r := gittest.New(t)
	for _, path := range []string{".gitattributes", "a/.gitattributes", "a/b/.gitattributes", "a/b/.small/.gitattributes", "a/b/.small/plan.small.yml", "c/.gitattributes", "d/.gitattributes/file", "a[b]/.gitattributes"} {
		r.Write(path, path+"\n")
	}
	r.Commit("start")
	id := r.ID("HEAD")
	sparse := r.Clone()
	sparse.Git("sparse-checkout", "set", "--sparse-index", "c")
	for _, reader := range readers {
		t.Run(reader.name, func(t *testing.T) {
			for _, test := range []struct{ dirs, want []string }{
				{[]string{""}, []string{".gitattributes"}},
				{[]string{"a/b"}, []string{".gitattributes", "a/.gitattributes", "a/b/.gitattributes", "a/b/.small/.gitattributes"}},
				{[]string{"c", "d", "none"}, []string{".gitattributes", "c/.gitattributes"}},
				{[]string{"a[b]"}, []string{".gitattributes", "a[b]/.gitattributes"}},
			} {
				for _, at := range []struct {
					repo     *gittest.Repo
					revision string
				}{{r, id}, {r, history.Index}, {sparse, history.Index}, {sparse, id}} {
					if at.repo == sparse && reader.refuses(t, sparse, "extensions.worktreeconfig") {
						continue
					}
					files, err := reader.open(t, at.repo).List(t.Context(), at.revision, history.Attributes(test.dirs))
					if err != nil {
						t.Fatal(err)
					}
					var got []string
					for _, f := range files {
						got = append(got, f.Path)
						if f.Object != r.ID(id+":"+f.Path) || !f.Regular() {
							t.Errorf("%+v", f)
						}
					}
					if diff := cmp.Diff(test.want, got); diff != "" || !slices.IsSorted(got) {
						t.Errorf("%s of %q (-want +got):\n%s", at.revision, test.dirs, diff)
					}
				}
			}
		})
	}
}

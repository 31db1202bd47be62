package githistory_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestSignature reads the signatures of commits, including malformed ones.
func TestSignature(t *testing.T) {
	gittest.Long(t)
	eachReader(t, func(t *testing.T, rd reader) {
		r := gittest.New(t)
		r.CommitFile("f", "1")
		tree := r.ID("HEAD^{tree}")
		sign := func(text string) history.Signature {
			t.Helper()
			id := strings.TrimSpace(r.GitInput(text, "hash-object", "-t", "commit", "-w", "--stdin", "--literally"))
			got, err := rd.open(t, r).Signature(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		head := "tree " + tree + "\n"
		ends := "committer C <c@example.com> 1 +0000\n"
		const epoch = "1970-01-01T00:00:01Z"
		for _, c := range []struct {
			name, text string
			want       history.Signature
		}{
			{"plain", head + "author A B <a@example.com> 1 +0000\n" + ends + "\none\n\ntwo\n", history.Signature{Name: "A B", Email: "a@example.com", Date: epoch, Message: "one\n\ntwo\n"}},
			{"signed", head + "author A <a@example.com> 1 +0000\n" + ends + "gpgsig -----BEGIN\n \n author X <x>\n -----END\n\none\n", history.Signature{Name: "A", Email: "a@example.com", Date: epoch, Message: "one\n"}},
			{"no message", head + "author A <a@example.com> 1 +0000\n" + ends, history.Signature{Date: epoch, Name: "A", Email: "a@example.com"}},
			{"not UTF-8", head + "author J\xfcrg <j@example.com> 1 +0000\n" + ends + "\n\xff\n", history.Signature{Name: "J\ufffdrg", Email: "j@example.com", Date: epoch, Message: "\ufffd\n"}},
			{"odd brackets", head + "author dependabot[bot] <a> b@example.com> 1 +0000\n" + ends + "\nx", history.Signature{Name: "dependabot[bot]", Email: "a", Date: epoch, Message: "x"}},
			{"a zone", head + "author A <a@example.com> 1767225780 -0730\n" + ends + "\nx", history.Signature{Name: "A", Email: "a@example.com", Date: "2025-12-31T16:33:00-07:30", Message: "x"}},
			{"no date", head + "author A <a@example.com>\n" + ends + "\nx", history.Signature{Name: "A", Email: "a@example.com", Message: "x"}},
			{"odd dates", head + "author A <a@example.com> 99999999999999999999 +0000\n" + ends + "\nx", history.Signature{Name: "A", Email: "a@example.com", Message: "x"}},
			{"no year", head + "author A <a@example.com> 999999999999999 +0000\n" + ends + "\nx", history.Signature{Name: "A", Email: "a@example.com", Message: "x"}},
			{"nobody", head + "author  <> 1 +0000\n" + ends + "\nx", history.Signature{Date: epoch, Message: "x"}},
		} {
			t.Run(c.name, func(t *testing.T) { wantEqual(t, c.want, sign(c.text)) })
		}
		if _, err := rd.open(t, r).Signature(t.Context(), strings.Repeat("1", 40)); err == nil {
			t.Error("a commit that is not here has a signature")
		}
	})
}

// TestSignatureTakesNoMailmap: a file in the tree does not decide whose a commit is.
func TestSignatureTakesNoMailmap(t *testing.T) {
	eachReader(t, func(t *testing.T, rd reader) {
		r := gittest.New(t)
		r.Write(".mailmap", "Ada <ada@example.com> <bot@example.com>\n")
		bot := r.With("GIT_AUTHOR_NAME=x[bot]", "GIT_AUTHOR_EMAIL=bot@example.com")
		id := bot.Commit("one")
		got, err := rd.open(t, r).Signature(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, history.Signature{Name: "x[bot]", Email: "bot@example.com", Date: "2026-01-01T00:03:00Z", Message: "one\n"}, got)
	})
}

// TestSignatureOfTheIndex is the author that git will write.
func TestSignatureOfTheIndex(t *testing.T) {
	gittest.Long(t)
	eachReader(t, func(t *testing.T, rd reader) {
		r := gittest.New(t)
		r.CommitFile("f", "1")
		got, err := rd.open(t, r.With("GIT_AUTHOR_NAME=x[bot]", "GIT_AUTHOR_EMAIL=bot@example.com")).Signature(t.Context(), history.Index)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, history.Signature{Name: "x[bot]", Email: "bot@example.com"}, got)

		r.Git("config", "author.name", "From Configuration")
		r.Git("config", "author.email", "c@example.com")
		unset := slices.DeleteFunc(r.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_AUTHOR_") })
		repo, err := rd.try(t.Context(), r.Dir, unset)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := repo.Close(); err != nil {
				t.Error(err)
			}
		})
		got, err = repo.Signature(t.Context(), history.Index)
		if rd.name == "go-git" {
			wantUnserved(t, err, "author")
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, history.Signature{Name: "From Configuration", Email: "c@example.com"}, got)

		r.Git("config", "--unset", "author.name")
		r.Git("config", "user.useConfigOnly", "true")
		_, err = repo.Signature(t.Context(), history.Index)
		if f := failure.Of(err); err == nil || !strings.HasPrefix(f.Remedy, "set user.name") {
			t.Errorf("git does not know the author: %v", err)
		}
	})
}

// TestCurrentBranch is the branch that HEAD names, also before its first commit.
func TestCurrentBranch(t *testing.T) {
	eachReader(t, func(t *testing.T, rd reader) {
		r := gittest.New(t)
		branch := func() string {
			t.Helper()
			got, err := rd.open(t, r).CurrentBranch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		wantEqual(t, "refs/heads/main", branch())
		r.CommitFile("f", "1")
		r.Git("switch", "-q", "-c", "small/agent-1")
		wantEqual(t, "refs/heads/small/agent-1", branch())
		r.Git("switch", "-q", "--detach")
		wantEqual(t, "", branch())
	})
}

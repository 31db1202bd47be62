package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/write/rewrite"
)

// oddHeaders are what stands after the parents of commits, messages included.
var oddHeaders = []string{
	"author A <a@x> 1772400000 +0530\ncommitter B <b@x> 1772400001 -0800\n\nordinary\n",
	"author A <a@x> 1 +0000\ncommitter B <b@x> 1 +0000\n\n",
	"author A <a@x> 1 +0000\ncommitter B <b@x> 1 +0000\n\nno line end",
	"author A <a@x> 1 +0000\ncommitter B <b@x> 1 +0000\nencoding ISO-8859-1\n\n\xe4\x01\r\n",
	"author  A  A  <a@x> 1 +1400\ncommitter <b@x> 1 +0000\n\nidents\n",
	"author Odd <odd <odd> 1 +0000\ncommitter B <b@x> 1 +0000\n\nbrackets\n",
	"author A <a@x> 1 +9900\ncommitter B <b@x> 1 +0000\n\nzone\n",
	"author A <a@x> -5 +0000\ncommitter B <b@x> 99999999999 +0000\n\ntimes\n",
	"author A <a@x> noon\ncommitter B\n\nno time\n",
	"committer B <b@x> 1 +0000\n\nno author\n",
	"author A <a@x> 1 +0000\ncommitter B <b@x> 1 +0000\nHG:extra a\n b\nchange-id c\n\nheaders\n",
	"author A <a@x> 1 +0000\ncommitter B <b@x> 1 +0000\nmergetag object 1\n type commit\n \n t\n\nmergetag\n",
}

// Each copy is what git would store with another tree and other parents: in the middle of a chain, without parents and with three, with
// other files, without any, in both formats of objects. No ref is left.
func TestMake(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]gittest.Option{"SHA-1": nil, "SHA-256": {gittest.SHA256()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t, options...)
			r.Write("a b", "old\n")
			r.Write("other", "other\n")
			start := r.Commit("start")
			tree, empty := r.ID("HEAD^{tree}"), r.GitInput("", "mktree")
			var originals []string
			for i, rest := range oddHeaders {
				parent := start
				if i > 0 {
					parent = originals[i-1]
				}
				raw := "tree " + tree + "\nparent " + parent + "\n" + strings.Replace(rest, "\n\n", "\ngpgsig -----BEGIN\n \n x\n\n", 1)
				originals = append(originals, r.GitInput(raw, "hash-object", "-t", "commit", "-w", "--literally", "--stdin"))
			}
			o := rewrite.New(gitcmd.Git{Dir: r.Dir, Environ: r.Environ()})
			blob, err := o.Store(t.Context(), []byte("new\n"))
			if err != nil {
				t.Fatal(err)
			}
			if data, err := o.Blob(t.Context(), blob); string(data) != "new\n" || err != nil {
				t.Fatalf("%q, %v", data, err)
			}
			var made, wants []string
			copied := func(c rewrite.Commit, want string, files ...history.File) {
				t.Helper()
				id, err := o.Make(t.Context(), c, files)
				if err != nil {
					t.Fatalf("%q: %v", want, err)
				}
				made, wants = append(made, id), append(wants, want)
			}
			for i, id := range originals {
				c, err := o.Commit(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				parents := ""
				c.Parents = nil
				if i > 0 {
					c.Parents = made[i-1:]
					parents = "parent " + made[i-1] + "\n"
				}
				copied(c, parents+oddHeaders[i], history.File{Path: "a b", Mode: "100755", Object: blob}, history.File{Path: "other"})
			}
			last := rewrite.Commit{Tree: tree, Parents: []string{made[0], start, made[5]}, Author: rewrite.Nobody, Committer: rewrite.Nobody}
			copied(last, "parent "+strings.Join(last.Parents, "\nparent ")+"\nauthor "+rewrite.Nobody+"\ncommitter "+rewrite.Nobody+"\n\n", history.File{Path: "a b"}, history.File{Path: "other"})
			if err := o.End(); err != nil {
				t.Fatal(err)
			}
			changed := r.GitInput(fmt.Sprintf("100755 blob %s\ta b\n", blob), "mktree")
			for i, id := range made {
				tree := changed
				if i == len(oddHeaders) {
					tree = empty
				}
				if got, want := r.Git("cat-file", "commit", id), strings.TrimSpace("tree "+tree+"\n"+wants[i]); strings.TrimSpace(got) != want {
					t.Errorf("the copy is\n%q\nwant\n%q", got, want)
				}
			}
			if refs := r.Git("for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" {
				t.Errorf("refs: %s", refs)
			}
			if _, err := o.Commit(t.Context(), blob); err == nil {
				t.Error("a blob was read as a commit")
			}
			if err := o.End(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A signed copy is like the commit, but for other headers.
func TestSign(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	sign := r.Path("../sign")
	if err := gittest.WriteProgram(sign, "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho '-----BEGIN PGP SIGNATURE-----'\n"); err != nil {
		t.Fatal(err)
	}
	kept := "tree " + r.GitInput("", "mktree") + "\nparent " + r.Commit("start") + "\nauthor Some Body <some@body> 1772400000 +0530\n"
	const message = "two\n\n#\xe4, no comment"
	id := r.GitInput(kept+"committer B <b@x> 1 +0000\nencoding ISO-8859-1\nchange-id c\n\n"+message, "hash-object", "-t", "commit", "-w", "--stdin")
	o := rewrite.New(gitcmd.Git{Dir: r.Dir, Environ: r.Environ(), Options: []string{"-c", "gpg.program=" + sign, "-c", "user.signingKey=me"}})
	id, err := o.Sign(t.Context(), id)
	if err == nil {
		err = o.End()
	}
	if err != nil {
		t.Fatal(err)
	}
	rest, found := strings.CutPrefix(r.Git("cat-file", "commit", id), kept+"committer ")
	committer, rest, _ := strings.Cut(rest, "\n")
	if want := "encoding ISO-8859-1\ngpgsig -----BEGIN PGP SIGNATURE-----\n\n" + message; !found || rest != want || strings.HasPrefix(committer, "B ") {
		t.Errorf("by %s:\n%q", committer, rest)
	}
}

package plain

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

func open(t testing.TB, r *gittest.Repo) *Repo {
	t.Helper()
	repo, err := Open(t.Context(), r.Dir, r.Environ())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	return repo
}

// wantUnserved checks that an error refuses something by name.
func wantUnserved(t *testing.T, err error, words ...string) {
	t.Helper()
	var f *failure.Error
	if !errors.As(err, &f) || !errors.Is(err, ErrUnserved) {
		t.Fatalf("the error is %v, want one that is unserved", err)
	}
	for _, word := range append(words, "--reader git") {
		if !strings.Contains(f.Error(), word) {
			t.Errorf("the failure does not say %q: %v", word, f)
		}
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	const v1 = "[core]\n\trepositoryformatversion = 1\n"
	r := gittest.New(t)
	for _, tt := range []struct{ config, refused string }{
		{"", ""},
		{"[core]\n\trepositoryformatversion = 0\n", ""},
		{"[core]\n\trepositoryFormatVersion = 2\n", "core.repositoryFormatVersion"},
		{"[core]\n\trepositoryformatversion = x\n", "core.repositoryFormatVersion"},
		{"[core]\n\trepositoryformatversion = -1\n", "core.repositoryFormatVersion"},
		{"[core]\n\trepositoryformatversion = 7\n[core]\n\trepositoryformatversion = 0\n", ""}, // the last counts
		{v1, "core.repositoryFormatVersion"},
		{"[extensions]\n\tpreciousObjects = true\n", "extensions.preciousobjects"},
		{v1 + "[Extensions]\n\tworktreeconfig = false\n\tnoop\n", "extensions.noop"},
		{v1 + "[extensions]\n\trelativeWorktrees = true\n", "extensions.relativeworktrees"},
		{v1 + "[extensions]\n\tobjectFormat = sha256\n", "extensions.objectformat"},
		{v1 + "[extensions]\n\tcompatObjectFormat = sha256\n", "extensions.compatobjectformat"},
		{v1 + "[extensions]\n\trefStorage = reftable\n", "extensions.refstorage"},
		{v1 + "[extensions]\n\tfromTheFuture = 1\n", "extensions.fromthefuture"},
		{v1 + "[extensions]\n\tpartialClone = origin\n", "extensions.partialclone"},
		{"[remote \"origin\"]\n\tpromisor = true\n", "partial clone"},
		{v1 + "[extensions \"x\"]\n\tnoop = 1\n", "extensions.x"},
		{v1 + "[extensions]\n\tworktreeConfig\n", "extensions.worktreeconfig"},
		{"[extensions]\n\tfromTheFuture = 1\n", "extensions.fromthefuture"},
		{"[core]\n\tbare\n", "core.bare"},
		{"[core]\n\tbare = maybe\n", "core.bare"},
		{"[core\n", "cannot read .git/config"},
		{"[core]\n\tx = \"unfinished\n", "cannot read .git/config"},
		{"[core]\n\tx = \\q\n", "cannot read .git/config"},
		{"\x00", "cannot read .git/config"},
		{"[core]\n\tworktree = a\\tb\n", "cannot read .git/config"},
		{"[core]\n\tworktree =\n", "core.worktree"}, // git fails on it
		{"[core]\n\tbare = true\n", "core.bare"},
		{"[core]\n\tworktree = ..\n", "core.worktree"},
		{"[extensions]\n\tworktreeConfig = true\n", "extensions.worktreeconfig"},
		{"[core]\n\tbare = false\n", ""},
		// go-git refuses to open these, but this reader can read them.
		{"[remote \"origin\"]\n\tfetch = ^refs/heads/x\n[branch \"a b\"]\n\trebase = merges\n\tmerge = foo\n[pack]\n\twindow = 10m\n", ""},
		{"[core]\n\tbare = false ; comment\n# another\n", ""},
		{"[includeIf \"gitdir:/x\"]\n\tpath = y\n", "includes other files"},
		{"[a \"b.c\"]\n\td = e # f\n", ""},
		{"\ufeff[core]\n", "cannot read .git/config"},
	} {
		r.Write(".git/config", tt.config)
		repo, err := Open(t.Context(), r.Dir, r.Environ())
		switch {
		case tt.refused != "":
			wantUnserved(t, err, tt.refused)
		case err != nil:
			t.Errorf("%q: %v", tt.config, err)
		default:
			if err := repo.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Everything that is accepted is read as git reads it.
func TestConfigAsGitReadsIt(t *testing.T) {
	gittest.Long(t)
	t.Parallel()
	r := gittest.New(t)
	for _, value := range []string{
		"plain", " two  words ", "\ttab\tinside\t", "a # comment", "a ; comment", "\"a # b\"", "\"a\" b \"c\"", "a\\\\b", "\\\"a\\\"", "a\\tb",
		"a \\\n  b", "\" lead\"", "../x", "C:/x", "'a'", "a=b", "[a]", "\u00fc", "a\r", "\"\"", "\"a", "\\x", "a\\", "\\b", "\"a\\nb\"",
	} {
		for _, form := range []string{
			"[core]\n\tworktree = %s\n", "[CORE]\nWorkTree=%s", "[core]worktree = %s\n", "[core] ; x\n\tworktree = %s\n",
			"[core]\n\tworktree = other\n[a]\n\tb = c\n[core]\n\tworktree = %s\n", "[core \"x\"]\n\tworktree = %s\n", "[core.x]\n\tworktree = %s\n",
			"[core \"x\"]\n\ta = b\n[core]\n# x\n\tworktree=%s",
		} {
			text := strings.Replace(form, "%s", value, 1)
			config := config{}
			if config.parse(text) != nil {
				continue // refused: git reads it
			}
			got, set := config.last("core.worktree")
			r.Write("config", text)
			said, err := r.Try("config", "--file", "config", "-z", "--get", "core.worktree")
			if (err == nil) != set || strings.TrimSuffix(said, "\x00") != got {
				t.Errorf("%q: %q, %v; git says %q, %v", text, got, set, said, err)
			}
		}
	}
}

// asGitLists compares the settings with git's list of them. A refused text is git's to read.
func asGitLists(t testing.TB, r *gittest.Repo, text string) (taken bool) {
	t.Helper()
	got, want := config{}, config{}
	if got.parse(text) != nil {
		return false
	}
	r.Write("config", text)
	said, err := r.Try("config", "--file", "config", "-z", "--list")
	if err != nil {
		t.Fatalf("%q is taken, and git says: %s", text, said)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(said, "\x00"), "\x00") {
		if name, value, _ := strings.Cut(line, "\n"); name != "" {
			want[name] = append(want[name], value)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q is read otherwise by git (-git +us):\n%s", text, diff)
	}
	return true
}

// TestConfigList tries texts with at most small errors.
func TestConfigList(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	pieces := []string{
		"[core]\n", "[a \"b c\"]", "[a \"b\\\"\\\\]\"] # x\n", "[A.B]\n", "[a \"\"]\n", "[A.]\n", "[a.b.]\n", "[a..b]\n", "[.a]\n", "[ a]\n", "[a\tx]", "[a \t\"X\"]", "bare = true\n", "Key\n", "key=", "x = a b  c  \n", "# c \"\n", "; d\r\n",
		"x = a\\\n b\n", "x = \"a # b\" ; c\n", "x = \"un\n", "x-1 = \\t\\n\\b\\\"\\\\\n", "x = \\q\n", "1x = y\n", "\n", "  ", "\r", "\\\n", "\t", "y = z\r\n", "é", "=", "x y\n", "x = a\\", "\"", "]", "x=a\r b\n", "\ufeff", "\v",
	}
	var taken int
	for seed := range smalltest.Seeds {
		r2 := smalltest.Seeded(seed)
		text := smalltest.Pick(r2, []string{"", "[core]\n", "[a \"b\"]\n", "\ufeff[c.D]\n"})
		for range r2.IntN(6) {
			text += smalltest.Pick(r2, pieces)
		}
		if asGitLists(t, r, text) {
			taken++
		}
	}
	if taken < 10 {
		t.Errorf("only %d were taken", taken)
	}
	plain := "[user]\n\tname = A B C\n[remote \"origin\"]\n\turl = https://x/y.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"a/b\"]\n\tmerge = \"refs/heads/a#b\" # c\n"
	if !asGitLists(t, r, plain) {
		t.Errorf("refused: %q", plain)
	}
}

// The line number of a refusal is an editor's.
func TestConfigLine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"[a]\nb\n]\n", "\n\n]", "[a] # x\n\n[b.]", "[a]\n\nb = \"c\" d\n"} {
		if err := (config{}).parse(text); err == nil || !strings.HasPrefix(err.Error(), "bad config line 3,") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// If lines were counted again at each setting, the largest file would take a quarter of an hour, longer than go test's timeout.
func TestLargeConfig(t *testing.T) {
	gittest.Long(t)
	config := config{}
	err := config.parse("[a]\n" + strings.Repeat("b\n", 2<<20))
	if n := len(config["a.b"]); err != nil || n != 2<<20 {
		t.Errorf("%d settings, %v", n, err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("[core]\n\tbare = true\n[a \"b\\\"c\"]\nd = \"e\\n\\t\\b\\\\\" ; f\n")
	f.Add("[a]\nb = c \\\n d\n[a.b]\nc\n")
	f.Add("[a]\nb = \\")
	f.Fuzz(func(t *testing.T, text string) { asGitLists(t, gittest.New(t), text) })
}

package directory_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/git/directory"
)

func write(t *testing.T, root, path, content string) {
	t.Helper()
	name := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, root string) *directory.Tree {
	t.Helper()
	tree, err := directory.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func paths(files []history.File) (out []string) {
	for _, f := range files {
		out = append(out, f.Mode+" "+f.Path)
	}
	return out
}

// TestFiles lists the contents of .small, follows no link and skips .git.
func TestFiles(t *testing.T) {
	root := t.TempDir()
	write(t, root, ".small/plan.small.yml", "x")
	write(t, root, ".small/deep/er/file", "x")
	write(t, root, "pkg/.small/plan.small.yml", "x")
	write(t, root, ".git/.small/plan.small.yml", "x")
	write(t, root, "other/file", "x")
	if err := os.Symlink("plan.small.yml", filepath.Join(root, ".small", "intent.small.yml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "pkg"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "empty", ".small"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link to the root")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	tree, ctx := open(t, link), context.Background()
	for _, c := range []struct {
		name string
		dirs []string
		want []string
	}{
		{"all", nil, []string{
			"040000 .small/deep", "040000 .small/deep/er", "100644 .small/deep/er/file", "120000 .small/intent.small.yml", "100644 .small/plan.small.yml", "100644 pkg/.small/plan.small.yml",
		}},
		{"the root", []string{""}, []string{
			"040000 .small/deep", "040000 .small/deep/er", "100644 .small/deep/er/file", "120000 .small/intent.small.yml", "100644 .small/plan.small.yml",
		}},
		{"one below", []string{"pkg"}, []string{"100644 pkg/.small/plan.small.yml"}},
		{"none", []string{"other"}, nil},
		{"a file", []string{"other/file"}, nil},
		{"a link", []string{"link"}, nil},
		{"an empty one", []string{"empty"}, []string{"040000 empty/.small"}},
	} {
		files, err := tree.List(ctx, "", history.Workspaces(c.dirs...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, paths(files)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := tree.List(stopped, "", history.Workspaces()); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted walk: %v", err)
	}
}

// TestBlob reads no more than the limit.
func TestBlob(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", "12345")
	tree, ctx := open(t, root), context.Background()
	if b, err := tree.Blob(ctx, "a", 5); err != nil || string(b.Data) != "12345" || b.Size != 5 {
		t.Errorf("%+v, %v", b, err)
	}
	if b, err := tree.Blob(ctx, "a", math.MaxInt64); err != nil || string(b.Data) != "12345" || b.Size != 5 {
		t.Errorf("%+v, %v", b, err)
	}
	if b, err := tree.Blob(ctx, "a", 4); err != nil || b.Data != nil || b.Size != 5 {
		t.Errorf("%+v, %v", b, err)
	}
	var failure *failure.Error
	if _, err := tree.Blob(ctx, "b", 4); !errors.As(err, &failure) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := directory.Open(filepath.Join(root, "a")); !errors.As(err, &failure) {
		t.Errorf("a file instead of a directory: %v", err)
	}
}

// Names that some systems treat as .small are listed too, wherever they are.
func TestLookalikes(t *testing.T) {
	root := t.TempDir()
	for _, path := range []string{".small/x", ".SMALL/x", ".small./x", "sub/.Small", ".smallstep/x", "small/x"} {
		write(t, root, path, "1")
	}
	tree := open(t, root)
	for _, c := range []struct{ dirs, want []string }{
		{nil, []string{"100644 .SMALL/x", "100644 .small./x", "100644 .small/x", "100644 sub/.Small"}},
		{[]string{""}, []string{"100644 .SMALL/x", "100644 .small./x", "100644 .small/x"}},
		{[]string{"sub"}, []string{"100644 sub/.Small"}},
		{[]string{"small"}, nil},
		{[]string{"gone"}, nil},
	} {
		got, err := tree.List(t.Context(), "", history.Workspaces(c.dirs...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, paths(got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.dirs, diff)
		}
	}
}

// TestGlob finds what a pattern matches on disk, and searches no further than needed.
func TestGlob(t *testing.T) {
	root := t.TempDir()
	write := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), []byte(path), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		".small/workflows/job/workflow.md", "a/.small/x", "workflows/job/workflow.md", "a/workflows/job/workflow.md", ".git/workflows/job/workflow.md", "jobs/1.json", "jobs/old/2.json", "agents/a[1].md",
	} {
		write(path)
	}
	tree, err := directory.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		patterns string
		want     string
	}{
		{"workflows/*/workflow.md", "workflows/job/workflow.md"},
		{"**/workflows/*/workflow.md", ".small/workflows/job/workflow.md a/workflows/job/workflow.md workflows/job/workflow.md"},
		{"jobs/*.json jobs/1.json", "jobs/1.json"},
		{"jobs/**", "jobs/1.json jobs/old/2.json"},
		{"jobs/1.json/** jobs/*.json/**/**", "jobs/1.json"},
		{"jobs/{old,new}/*.json", "jobs/old/2.json"},
		{`agents/a\[1\].md`, "agents/a[1].md"},
		{"jobs/old none/*.md jobs/1.json/x", ""},
		{"*", ""},
	} {
		files, err := tree.List(context.Background(), "", history.Matching(strings.Fields(c.patterns)...))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, f.Path)
			if f.Mode != "100644" {
				t.Errorf("%s has the mode %s", f.Path, f.Mode)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.patterns, got, c.want)
		}
	}
}

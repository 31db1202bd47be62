package small

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

func TestParseDigest(t *testing.T) {
	d := Digest(sha256.Sum256([]byte("x")))
	got, err := ParseDigest(d.String())
	if err != nil || got != d {
		t.Errorf("%s is read as %s, %v", d, got, err)
	}
	for _, text := range []string{
		"", "sha256:", strings.TrimPrefix(d.String(), "sha256:"), d.String() + "0", d.String()[:70], strings.ToUpper(d.String()),
		"sha256:" + strings.ToUpper(d.String()[7:]), "sha256:" + strings.Repeat("g", 64), " " + d.String(), "sha1:" + d.String()[7:],
	} {
		if got, err := ParseDigest(text); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]string{
		".small/plan.small.yml":            ` "plan.small.yml" true`,
		".small":                           ` "" true`,
		"a/b/.small/ext/x.yml":             `a/b "ext/x.yml" true`,
		"a/.small/b/.small/plan.small.yml": `a/.small/b "plan.small.yml" true`,
		"a/small/x":                        ` "" false`,
		"a/.smaller/x":                     ` "" false`,
		"":                                 ` "" false`,
	} {
		dir, name, ok := SplitPath(path)
		if got := fmt.Sprintf("%s %q %v", dir, name, ok); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if ok && InDir(dir, name) != path {
			t.Errorf("%s comes back as %s", path, InDir(dir, name))
		}
	}
	for _, a := range Artifacts {
		if got, ok := ArtifactOf(a.FileName()); !ok || got != a {
			t.Errorf("%s is not known by its file name", a)
		}
		if got, want := a.Path("x/y"), "x/y/.small/"+string(a)+".small.yml"; got != want {
			t.Errorf("path %s, want %s", got, want)
		}
		if a.Path("") != a.Path(".") {
			t.Errorf("the root has two paths: %s, %s", a.Path(""), a.Path("."))
		}
		if a.Canonical() == (a == Workspace) {
			t.Errorf("%s: canonical is %v", a, a.Canonical())
		}
	}
	if a, ok := ArtifactOf("ext/plan.small.yml"); ok {
		t.Errorf("a file in a subdirectory is taken for %s", a)
	}
}

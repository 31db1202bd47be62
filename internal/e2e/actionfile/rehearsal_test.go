//go:build rehearsal

package actionfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestRehearsal runs the steps of release.yml as they are, in order, in clones of the present commit (scripts/release rehearse). The server
// is a bare repository; GitHub's releases, the image registry, npm and PyPI are folders behind the programs in testdata/rehearsal.
// goreleaser, cyclonedx-gomod and the tests of the packages are real. One release fails three times and is continued each time, and an
// older version follows it.
func TestRehearsal(t *testing.T) {
	w := newWorld(t, "1.1.0", "1.0.5")
	w.write("private", "")
	digests := w.images("v1.1.0")
	w.fails("v1.1.0", digests, "anybody can pull the image")
	w.unpublished()
	if w.files("releases") != nil {
		t.Error("there is a draft")
	}
	w.remove("private")

	w.write("refuse", "")
	w.fails("v1.1.0", digests, "the tag")
	w.unpublished()
	w.remove("refuse")

	w.write("npm-down", "")
	w.fails("v1.1.0", digests, "npm")
	w.order("image", "pulled", "draft v1.1.0", "attested", "tag v1.1.0", "npm")
	tagged := w.git("origin.git", "rev-parse", "refs/tags/v1.1.0")
	if len(w.files("npm")) == 0 || w.files("pypi") != nil {
		t.Errorf("npm has %q, PyPI %q", w.files("npm"), w.files("pypi"))
	}
	w.remove("npm-down")

	w.fails("v1.1.0", digests, "")
	w.published(tagged)
	w.order("image", "pulled", "draft v1.1.0", "attested", "npm", "pypi v1.1.0", "image v1.1.0", "release v1.1.0", "image v1", "tag v1")
	if got := w.job("v1.1.0", nil).run("check", w.jobs["check"]); !strings.HasPrefix(got, "scripts/release check") {
		t.Errorf("a version that is out is refused by %q", got)
	}

	w.fails("v1.0.5", w.images("v1.0.5"), "")
	w.published(tagged) // nothing that people follow has changed
	if got := w.read("npm/tag-older"); got != "1.0.5" {
		t.Errorf("npm's older version is %s", got)
	}
	w.reserve()
	w.follow()
}

// newWorld is a server with a main whose CHANGELOG.md has sections for versions.
func newWorld(t *testing.T, versions ...string) *rehearsal {
	t.Helper()
	w := &rehearsal{world: &world{t: t, dir: t.TempDir()}}
	w.jobs, _ = releaseWorkflow(t)
	for _, dir := range []string{"registry", "releases", "pypi"} {
		if err := os.Mkdir(w.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	here := absolute(t, root)
	w.git(".", "init", "-q", "--bare", "-b", "main", "origin.git")
	w.git(here, "push", "-q", w.path("origin.git"), "HEAD:refs/heads/main")
	w.git(".", "clone", "-q", "origin.git", "main")
	w.write("main/CHANGELOG.md", w.read("main/CHANGELOG.md")+"\n\n## ["+strings.Join(versions, "]\n\n## [")+"]\n")
	w.git("main", "commit", "-q", "-a", "-m", "Name the versions")
	w.git("main", "push", "-q")
	w.write("origin.git/hooks/update", "#!/bin/sh\nif test -e '"+w.path("refuse")+"'; then echo 'a ruleset forbids this'; exit 1; fi\necho tag ${1##*/} >>'"+w.path("events")+"'\n")
	return w
}

// rehearsal is a world with the jobs that run in it.
type rehearsal struct {
	*world
	jobs map[string]workflowJob
}

// images runs the jobs before a person's approval. Their outputs are available to each attempt of the later jobs.
func (w *rehearsal) images(version string) map[string]string {
	w.t.Helper()
	if failed := w.job(version, nil).run("check", w.jobs["check"]); failed != "" {
		w.t.Fatalf("%s: %s failed", version, failed)
	}
	outputs := map[string]string{}
	for _, arch := range []string{"amd64", "arm64"} {
		j := w.job(version, map[string]string{"matrix.arch": arch})
		if failed := j.run("images", w.jobs["images"]); failed != "" {
			w.t.Fatalf("%s: %s failed", version, failed)
		}
		outputs["needs.images.outputs."+arch] = j.values["steps.push.outputs."+arch]
	}
	return outputs
}

// fails runs the job that publishes, and demands that it fails in a step, or not at all.
func (w *rehearsal) fails(version string, digests map[string]string, step string) {
	w.t.Helper()
	w.write("events", "")
	if got := w.job(version, digests).run("release", w.jobs["release"]); got != step {
		w.t.Fatalf("%s failed in %q, not in %q", version, got, step)
	}
}

// unpublished demands that nothing of a release is visible.
func (w *rehearsal) unpublished() {
	w.t.Helper()
	if tags := w.git("origin.git", "tag"); tags != "" || w.files("npm") != nil || w.files("pypi") != nil || slices.Contains(w.files("registry"), "v1.1.0") {
		w.t.Errorf("tags %q, npm %q, PyPI %q, images %q", tags, w.files("npm"), w.files("pypi"), w.files("registry"))
	}
	if public, err := filepath.Glob(w.path("releases/*/public")); err != nil || public != nil {
		w.t.Errorf("public are %q, %v", public, err)
	}
}

// published demands that everything that people follow is v1.1.0, at the tagged commit.
func (w *rehearsal) published(tagged string) {
	w.t.Helper()
	for _, c := range []struct{ what, got, want string }{
		{"the tag", w.git("origin.git", "rev-parse", "refs/tags/v1.1.0"), tagged},
		{"v1", w.git("origin.git", "rev-parse", "refs/tags/v1"), tagged},
		{"the image v1", w.read("registry/v1"), w.read("registry/v1.1.0")},
		{"npm's latest", w.read("npm/tag-latest"), "1.1.0"},
		{"the latest release", w.read("releases/latest"), "v1.1.0"},
	} {
		if c.got != c.want || c.got == "" {
			w.t.Errorf("%s is %q, not %q", c.what, c.got, c.want)
		}
	}
	parent := w.git("origin.git", "rev-parse", tagged+"^")
	if main := w.git("origin.git", "rev-parse", "main"); parent != main {
		w.t.Errorf("the release's commit is on %s, not on %s", parent, main)
	}
}

// order demands what happened to a release, in order. Images named after the commit, and things that occur several times, have no names
// here.
func (w *rehearsal) order(want ...string) {
	w.t.Helper()
	var got []string
	for line := range strings.Lines(w.read("events")) {
		said := strings.TrimSpace(line)
		what, name, _ := strings.Cut(said, " ")
		if what == "npm" || what == "attested" || what == "image" && strings.HasPrefix(name, w.git("origin.git", "rev-parse", "main")) {
			said = what
		}
		if n := len(got); n == 0 || got[n-1] != said {
			got = append(got, said)
		}
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("the order is %q, not %q", got, want)
	}
}

// reserve runs the commands in RELEASING.md from before npm trusts the workflow, and demands that they use the packages' names.
func (w *rehearsal) reserve() {
	w.t.Helper()
	_, block, _ := strings.Cut(readFile(w.t, filepath.Join(root, "RELEASING.md")), "```sh\n   for name in")
	block, _, _ = strings.Cut(block, "```")
	var want []string
	for _, file := range w.files("npm") {
		if name, ok := strings.CutSuffix(file, "@1.1.0"); ok {
			want = append(want, name+"@0.0.0")
		}
	}
	j := w.job("", nil)
	if err := j.step(workflowStep{Run: "for name in" + block}); err != nil {
		w.t.Fatalf("%v\n%s", err, j.log.String())
	}
	got := slices.DeleteFunc(w.files("npm"), func(file string) bool { return !strings.HasSuffix(file, "@0.0.0") })
	if !slices.Equal(got, want) || len(want) != 7 {
		w.t.Errorf("the page publishes %q, not %q", got, want)
	}
}

// follow makes the tap take the formula. After that it makes no commit for 30 days, and then an empty one.
func (w *rehearsal) follow() {
	w.t.Helper()
	var workflow struct{ Jobs map[string]workflowJob }
	if err := yaml.Unmarshal([]byte(readFile(w.t, filepath.Join(root, "scripts", "packages", "tap.yml"))), &workflow); err != nil {
		w.t.Fatal(err)
	}
	script := workflow.Jobs["follow"].Steps[1]
	w.git(".", "init", "-q", "--bare", "-b", "main", "tap.git")
	w.git(".", "clone", "-q", "tap.git", "tap")
	w.git("tap", "commit", "-q", "--allow-empty", "-m", "Begin")
	w.git("tap", "push", "-q", "origin", "main")
	take := func(commits string) {
		w.t.Helper()
		j := w.job("", nil)
		j.dir = w.path("tap")
		if err := j.step(script); err != nil {
			w.t.Fatalf("the tap: %v\n%s", err, j.log.String())
		}
		if got := w.git("tap.git", "log", "-1", "--format=%s", "main") + ", " + w.git("tap.git", "rev-list", "--count", "main"); got != "small-gate 1.1.0, "+commits {
			w.t.Errorf("the tap's last commit and their number: %s, not %s", got, commits)
		}
	}
	take("2")
	take("2")
	w.t.Setenv("GIT_COMMITTER_DATE", "@1700000000 +0000")
	w.git("tap", "commit", "-q", "--amend", "--no-edit")
	if err := os.Unsetenv("GIT_COMMITTER_DATE"); err != nil {
		w.t.Fatal(err)
	}
	w.git("tap", "push", "-q", "--force")
	take("3")
}

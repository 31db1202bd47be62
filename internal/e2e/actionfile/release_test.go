package actionfile_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// workflowStep is a step of a workflow.
type workflowStep struct {
	ID, Name        string
	Uses, Run, If   string
	With, Env       map[string]string
	ContinueOnError any `yaml:"continue-on-error"`
}

// workflowJob is a job of a workflow.
type workflowJob struct {
	Needs           needs
	If              string
	Environment     any
	ContinueOnError any `yaml:"continue-on-error"`
	Env             map[string]string
	Steps           []workflowStep
}

// needs are the jobs that a job needs, which YAML gives one by one or as a list.
type needs []string

func (n *needs) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*n = needs{node.Value}
		return nil
	}
	return node.Decode((*[]string)(n))
}

// releaseWorkflow is the workflow for releases: its jobs, and its text.
func releaseWorkflow(t *testing.T) (jobs map[string]workflowJob, text string) {
	t.Helper()
	text = readFile(t, filepath.Join(root, ".github", "workflows", "release.yml"))
	var workflow struct{ Jobs map[string]workflowJob }
	if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
		t.Fatal(err)
	}
	return workflow.Jobs, text
}

// ownTag is the workflow's name for an image by the commit's id, which nobody follows.
const ownTag = "$IMAGE:$GITHUB_SHA"

// public reports whether a step changes what people follow. A draft of a release does not.
func (s workflowStep) public() bool {
	if strings.HasPrefix(s.Uses, "pypa/gh-action-pypi-publish@") || strings.HasPrefix(s.Run, "scripts/release npm") {
		return true
	}
	for line := range strings.Lines(s.Run) {
		tags := strings.Contains(line, "docker push") || strings.Contains(line, "imagetools create")
		other := strings.Contains(strings.ReplaceAll(line, ownTag, ""), "$IMAGE:")
		if tags && !strings.Contains(line, ownTag) || other || strings.Contains(line, "git push") || strings.Contains(line, "gh release") {
			return true
		}
	}
	return false
}

// TestReleaseOrder demands that everything that people follow is changed by the last steps of one job, after everything else.
func TestReleaseOrder(t *testing.T) {
	jobs, said := releaseWorkflow(t)
	var before func(name string) []string
	before = func(name string) (all []string) {
		for _, job := range jobs[name].Needs {
			all = append(append(all, job), before(job)...)
		}
		return all
	}
	publishers := 0
	for name, job := range jobs {
		first := slices.IndexFunc(job.Steps, workflowStep.public)
		if job.If != "" || job.ContinueOnError != nil {
			t.Errorf("%s does not run always, or may fail", name)
		}
		for i, step := range job.Steps {
			if step.ContinueOnError != nil || step.If != "" && (i <= first || first < 0) {
				t.Errorf("%s: step %d may be left out, or may fail", name, i+1)
			}
			if first >= 0 && i > first && !step.public() {
				t.Errorf("%s: step %d comes after something was made public", name, i+1)
			}
		}
		if first < 0 {
			continue
		}
		publishers++
		for other := range jobs {
			if other != name && !slices.Contains(before(name), other) {
				t.Errorf("%s makes something public and does not wait for %s", name, other)
			}
		}
		if job.Environment == nil {
			t.Errorf("%s makes something public without an environment", name)
		}
		for _, check := range []string{"scripts/release verify dist", "go test -count=1 -run 'TestPackage|TestProvidedHooks' ./internal/e2e/clients"} {
			checked := slices.ContainsFunc(job.Steps[:first], func(s workflowStep) bool { return slices.Contains(strings.Split(s.Run, "\n"), check) })
			if !checked {
				t.Errorf("%s makes something public without %s", name, check)
			}
		}
	}
	if publishers != 1 {
		t.Errorf("%d jobs make something public", publishers)
	}
	for _, want := range []string{`scripts/release check "$VERSION" "$GITHUB_REF"`, "bash .ci/run", "bash .ci/long", "scripts/try-image small-gate \"$VERSION\""} {
		if !strings.Contains(said, want) {
			t.Errorf("the workflow does not run %s", want)
		}
	}
}

// TestReleaseTagFirst demands that anybody can pull the image before anything is public, and that the tag is first.
func TestReleaseTagFirst(t *testing.T) {
	jobs, _ := releaseWorkflow(t)
	steps := jobs["release"].Steps
	first := slices.IndexFunc(steps, workflowStep.public)
	pulled := slices.IndexFunc(steps, func(s workflowStep) bool {
		return strings.Contains(s.Run, `DOCKER_CONFIG=$(mktemp -d) docker pull "$IMAGE@$DIGEST"`)
	})
	if pulled < 0 || pulled > first || !strings.HasSuffix(steps[first].Run, `.git" "refs/tags/$VERSION"`) {
		t.Errorf("step %d pulls the image, and the first to publish something is %q", pulled+1, steps[first].Run)
	}
}

// TestReleasingPage demands that the steps named on the page exist in the workflow.
func TestReleasingPage(t *testing.T) {
	jobs, _ := releaseWorkflow(t)
	page := readFile(t, filepath.Join(root, "RELEASING.md"))
	for _, step := range []string{"anybody can pull the image", "the tag", "npm", "PyPI", "make it public", "move the major version's tags"} {
		if !slices.ContainsFunc(jobs["release"].Steps, func(s workflowStep) bool { return s.Name == step }) || !strings.Contains(page, "*"+step+"*") {
			t.Errorf("the page and the workflow do not both have %q", step)
		}
	}
}

// TestReleaseNewest demands that an older version and a release candidate change nothing that people follow.
func TestReleaseNewest(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "a"},
		{"tag", "v1.0.0"}, {"tag", "v1.9.0"}, {"tag", "v1.10.0"}, {"tag", "v1"}, {"tag", "v2.0.0"}, {"tag", "v2.1.0-rc.1"}, {"tag", "v3.0.0-rc.1"}} {
		if said, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	for args, want := range map[string]string{
		"v1.10.0 v1.*": "true", "v1.9.0 v1.*": "false", "v1.10.0 v*": "false", "v2.0.0 v*": "true", "v2.1.0-rc.1 v2.*": "false", "v3.0.0-rc.1 v3.*": "false",
	} {
		cmd := exec.Command("bash", append([]string{"scripts/release", "newest"}, strings.Fields(args)...)...)
		cmd.Dir, cmd.Env = root, append(cmd.Environ(), "GIT_DIR="+filepath.Join(dir, ".git"))
		if said, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(said)) != want {
			t.Errorf("newest %s: %v: %s", args, err, said)
		}
	}
}

// TestReleaseAttested demands a signed provenance for the image of each architecture, the combined image, the files and the packages, and a
// signed SBOM for each architecture's image.
func TestReleaseAttested(t *testing.T) {
	jobs, _ := releaseWorkflow(t)
	var got []string
	for name, job := range jobs {
		for _, step := range job.Steps {
			if strings.HasPrefix(step.Uses, "actions/attest") {
				got = append(got, strings.Join([]string{name, step.With["subject-digest"] + step.With["subject-checksums"] + step.With["subject-path"], step.With["sbom-path"]}, " "))
			}
		}
	}
	for _, want := range []string{
		"images ${{ steps.push.outputs.digest }} ",
		"release ${{ steps.image.outputs.digest }} ",
		"release ${{ env.AMD64 }} dist/small-hook_linux_amd64.cdx.json",
		"release ${{ env.ARM64 }} dist/small-hook_linux_arm64.cdx.json",
		"release dist/checksums.txt ",
		"release dist/packages/*/* ",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("nothing attests %q; attested are %q", want, got)
		}
	}
}

// TestReleaseFromMain demands that a release is refused on any other branch.
func TestReleaseFromMain(t *testing.T) {
	for ref, want := range map[string]string{
		"refs/heads/topic":  "is made from main",
		"refs/tags/main":    "is made from main",
		"refs/heads/main":   "CHANGELOG.md has no section", // it continues with the next check
		"refs/heads/main/x": "is made from main",
	} {
		cmd := exec.Command("bash", "scripts/release", "check", "v999.0.0-rc.1", ref)
		cmd.Dir = root
		said, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(said), want) {
			t.Errorf("%s: %v: %s", ref, err, said)
		}
	}
}

// TestReleaseVersion demands that a version that PyPI cannot express is refused.
func TestReleaseVersion(t *testing.T) {
	for _, version := range []string{"1.2.3", "v1.2", "v01.2.3", "v1.2.3-rc1", "v1.2.3-beta", "v1.2.3-rc.1.2", "v1.2.3-next.1", "v1.2.3-rc.01"} {
		cmd := exec.Command("bash", "scripts/release", "check", version, "refs/heads/main")
		cmd.Dir = root
		if said, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(said), "is no version such as") {
			t.Errorf("%s: %v: %s", version, err, said)
		}
	}
}

// TestImagePinned demands that the image is built from images named by digest, and that there is one image.
func TestImagePinned(t *testing.T) {
	text := readFile(t, filepath.Join(root, "Dockerfile"))
	stages, images := map[string]bool{}, 0
	for _, m := range regexp.MustCompile(`(?m)^FROM (\S+)(?: AS (\S+))?$`).FindAllStringSubmatch(text, -1) {
		stages[m[2]] = true
		if m[2] == "" {
			images++
		}
		if !regexp.MustCompile(`^\$\{\w+\}$|:[\w.-]+@sha256:[0-9a-f]{64}$`).MatchString(m[1]) {
			t.Errorf("%s is not named by tag and digest", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^ARG (\w+_IMAGE)=(.*)$`).FindAllStringSubmatch(text, -1) {
		if !stages[m[2]] {
			t.Errorf("by default %s is %s, which is no stage", m[1], m[2])
		}
	}
	if images != 1 || strings.Contains(text, "\nENTRYPOINT") || strings.Contains(text, "\nUSER") {
		t.Errorf("%d images, or one with an entry point or a user:\n%s", images, text)
	}
}

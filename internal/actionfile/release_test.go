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

// workflowStep is what a step of a workflow does.
type workflowStep struct {
	Uses, Run, If   string
	With            map[string]string
	ContinueOnError any `yaml:"continue-on-error"`
}

// workflowJob is what a job of a workflow says of itself.
type workflowJob struct {
	Needs           needs
	If              string
	Environment     any
	ContinueOnError any `yaml:"continue-on-error"`
	Steps           []workflowStep
}

// needs are the jobs before a job, which YAML names one by one or as a list.
type needs []string

func (n *needs) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*n = needs{node.Value}
		return nil
	}
	return node.Decode((*[]string)(n))
}

// releaseWorkflow is the workflow that makes a release: its jobs, and its text.
func releaseWorkflow(t *testing.T) (jobs map[string]workflowJob, text string) {
	t.Helper()
	text = readFile(t, filepath.Join(root, ".github", "workflows", "release.yml"))
	var workflow struct{ Jobs map[string]workflowJob }
	if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
		t.Fatal(err)
	}
	return workflow.Jobs, text
}

// ownTag is how the workflow names an image by the commit's id, which nobody follows.
const ownTag = "$IMAGE:$GITHUB_SHA"

// public reports whether a step sets what people follow. A draft of a release is none yet.
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

// TestReleaseOrder demands that what people follow is set by the last steps of one job, which everything else comes before.
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
		for _, check := range []string{"scripts/release verify dist", "go test -count=1 -run 'TestPackage|TestProvidedHooks' ./internal/clients"} {
			checked := slices.ContainsFunc(job.Steps[:first], func(s workflowStep) bool { return slices.Contains(strings.Split(s.Run, "\n"), check) })
			if !checked {
				t.Errorf("%s makes something public without %s", name, check)
			}
		}
	}
	if publishers != 1 {
		t.Errorf("%d jobs make something public", publishers)
	}
	for _, want := range []string{`scripts/release check "$VERSION" "$GITHUB_REF"`, "bash .ci/run", "scripts/try-image small-gate \"$VERSION\""} {
		if !strings.Contains(said, want) {
			t.Errorf("the workflow does not run %s", want)
		}
	}
}

// TestReleaseAttested demands a signed provenance of the image of each architecture, of the two together, of the files and of the packages,
// and a signed SBOM of each architecture's image.
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
		"refs/heads/main":   "CHANGELOG.md has no section", // it goes on to the next demand
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

// TestReleaseVersion demands that a version which PyPI could not name is refused.
func TestReleaseVersion(t *testing.T) {
	for _, version := range []string{"1.2.3", "v1.2", "v01.2.3", "v1.2.3-rc1", "v1.2.3-beta", "v1.2.3-rc.1.2", "v1.2.3-next.1", "v1.2.3-rc.01"} {
		cmd := exec.Command("bash", "scripts/release", "check", version, "refs/heads/main")
		cmd.Dir = root
		if said, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(said), "is no version such as") {
			t.Errorf("%s: %v: %s", version, err, said)
		}
	}
}

// TestImagePinned demands that what the image is built from is named by digest, and that there is one image.
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

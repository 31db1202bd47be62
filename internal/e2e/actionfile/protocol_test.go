package actionfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// TestNewerProtocol runs the weekly workflow's step beside a repository of the protocol that has newer releases, and one that has none.
func TestNewerProtocol(t *testing.T) {
	var workflow struct{ Jobs map[string]workflowJob }
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(root, ".github", "workflows", "protocol.yml"))), &workflow); err != nil {
		t.Fatal(err)
	}
	steps := workflow.Jobs["newer"].Steps
	script := steps[len(steps)-1].Run

	protocol := gittest.New(t)
	protocol.Git("commit", "-q", "--allow-empty", "-m", "Start")
	stand, issues := protocol.Path("stand"), protocol.Path("issues")
	protocol.Write("issues", "The protocol's program v1.3.0 is out, they say\n")
	protocol.Write("stand/gh", "#!/bin/sh\nif test \"$2\" = list; then cat "+issues+"; else printf '%s\\n' \"$4\" | tee -a "+issues+"; fi\n")
	if err := os.Chmod(filepath.Join(stand, "gh"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func() (string, error) {
		cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
		cmd.Dir = root
		cmd.Env = append(protocol.Environ(), "PATH="+stand+":/usr/bin:/bin",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+protocol.Dir+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/justyn-clark/small-protocol")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(); err == nil {
		t.Errorf("without a release: %s", out)
	}
	for _, step := range []struct{ tag, want string }{
		{"v1.0.10", ""}, {"v1.1.2", ""}, {"v9-rc", ""}, {"v1.3.0", "The protocol's program v1.3.0 is out\n"}, {"v1.2.9", ""}, {"v1.10.0", "The protocol's program v1.10.0 is out\n"},
	} {
		protocol.Git("tag", step.tag)
		if out, err := run(); err != nil || strings.TrimSpace(out) != strings.TrimSpace(step.want) {
			t.Errorf("%s: %v: %q, want %q", step.tag, err, out, step.want)
		}
	}
}

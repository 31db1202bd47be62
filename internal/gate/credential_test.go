package gate_test

import (
	"slices"
	"strings"
	"testing"
)

// entryWith is an example that adds an entry with some lines of its own to the valid workspace.
func entryWith(t *testing.T, step string, lines ...string) *example {
	t.Helper()
	const log = "small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n" +
		"  - timestamp: \"2026-03-01T09:00:00.000000000Z\"\n    task_id: \"meta/init\"\n    evidence: \"workspace created\"\n" +
		"  - timestamp: \"2026-03-01T09:10:00.000000000Z\"\n    task_id: \"task-1\"\n"
	return newExample(t, "-- "+step+"/.small/progress.small.yml --\n"+log+"    "+strings.Join(lines, "\n    ")+"\n")
}

// TestCredentialSpeaksOnce demands that only one of the two rules that find a token as a whole value reports it; the cases say which.
func TestCredentialSpeaksOnce(t *testing.T) {
	token := "SK" + "0f9e8d7c6b5a49382716051423f4e5d6" // in two parts, because repository hosts scan for tokens
	for _, tt := range []struct {
		step   string
		strict bool
		want   []string
	}{
		{"theirs", false, []string{"secret/credential"}},
		{"theirs", true, []string{"secret/credential"}},
		{"1", false, []string{"secret/credential"}}, // a history
		{"1", true, []string{"secret/credential"}},
	} {
		var got []string
		for _, f := range entryWith(t, tt.step, `evidence: "`+token+`"`).judge(t, settings{strict: tt.strict}) {
			got = append(got, f.rule)
			if strings.Contains(f.message, token[2:]) {
				t.Errorf("the message shows it: %s", f.message)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("step %s, strict %v: %v, want %v", tt.step, tt.strict, got, tt.want)
		}
	}
}

// TestCredentialByName finds a value that only its field's name gives away, at any depth, and one in a name.
func TestCredentialByName(t *testing.T) {
	value := "wJ4lr9UtnFEM1zK7MDENGb" + "PxRfiCYq2kLmN8oP3s"
	for field, lines := range map[string][]string{
		"in evidence.env.aws_secret_access_key": {"evidence:", "  env:", `    aws_secret_access_key: "` + value + `"`},
		"in evidence.0.SecretAccessKey":         {"notes: x", "evidence:", `  - {SecretAccessKey: "` + value + `"}`},
		"in command":                            {"evidence: x", `command: "AWS_SECRET_ACCESS_KEY=` + value + ` terraform apply"`},
		"in evidence.AWS_SECRET_ACCESS_KEY=":    {"evidence:", `  "AWS_SECRET_ACCESS_KEY=` + value + `": set`},
	} {
		all := entryWith(t, "theirs", lines...).judge(t, settings{})
		at := slices.IndexFunc(all, func(f found) bool { return f.rule == "secret/credential" })
		if at < 0 || !strings.Contains(all[at].message, field) || strings.Contains(all[at].message, value[:8]) {
			t.Errorf("%s: %v", field, all)
		}
	}
}

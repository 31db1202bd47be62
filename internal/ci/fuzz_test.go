package ci

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// Whatever an event contains, there is a plan or an error with a remedy, and git is passed only well-formed ids, refs and refspecs.
func FuzzEvent(f *testing.F) {
	for _, event := range []string{"push", "pull_request", "pull_request_target", "merge_group", "schedule", "delete", ""} {
		f.Add(event, []byte(github7("")))
		f.Add(event, []byte(push("refs/heads/feature", oldID, headID, `, "forced": true`)))
		f.Add(event, []byte(`{"merge_group": {"head_sha": "`+headID+`", "base_sha": "`+baseID+`", "base_ref": "refs/heads/main"}}`))
		f.Add(event, []byte(`{"pull_request": {"base": {"ref": "--upload-pack=x"}, "head": {"sha": "`+headID+`"}}}`))
		f.Add(event, []byte(`{"repository": {"default_branch": "x:refs/heads/main"}}`))
		f.Add(event, []byte(`null`))
	}
	f.Fuzz(func(t *testing.T, event string, payload []byte) {
		env := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": event, "GITHUB_SHA": mergeID}
		p, err := Decide(env, payload, Inputs{})
		checkPlan(t, p, err)
	})
}

// The same for the variables of each system.
func FuzzVariables(f *testing.F) {
	for i := range builds {
		f.Add(i, "refs/heads/main", headID, "false")
		f.Add(i, "--upload-pack=x", "HEAD", "7")
		f.Add(i, "x:refs/heads/main", zeroID, "")
	}
	f.Fuzz(func(t *testing.T, i int, name, id, number string) {
		b := builds[uint(i)%uint(len(builds))]
		env := maps.Clone(b.all)
		for _, build := range []map[string]string{b.request, b.branch, b.tagged} {
			for variable, old := range build {
				switch {
				case history.IsObjectID(old):
					env[variable] = id
				case old == "7":
					env[variable] = number
				default:
					env[variable] = name
				}
			}
		}
		p, err := Decide(env, nil, Inputs{})
		checkPlan(t, p, err)
	})
}

// checkPlan demands an error with a remedy, or a plan that passes git only ids, refs and refspecs.
func checkPlan(t *testing.T, p Plan, err error) {
	t.Helper()
	if err != nil {
		var trouble *failure.Error
		if !errors.As(err, &trouble) || trouble.Message == "" || trouble.Remedy == "" {
			t.Fatalf("an error without a way out: %v", err)
		}
		return
	}
	switch p.Kind {
	case Nothing:
		if p.Reason == "" {
			t.Error("nothing to judge, without a reason")
		}
		return
	case Change, Push, History:
	default:
		t.Fatalf("kind %q", p.Kind)
	}
	if len(p.Head) == 0 || p.Kind == Change && len(p.Base)+len(p.Merge) == 0 {
		t.Errorf("nothing to compare: %+v", p)
	}
	for _, list := range [][]Point{p.Base, p.Head, p.Merge, p.Default} {
		for _, point := range list {
			if !plain(point.Revision) {
				t.Errorf("revision %q", point.Revision)
			}
			for _, spec := range point.Fetch {
				if !fetchable(spec) {
					t.Errorf("refspec %q", spec)
				}
			}
		}
	}
}

// plain reports whether git can only read s as an id or the name of a ref.
func plain(s string) bool {
	return history.IsObjectID(s) || s == "HEAD" || strings.HasPrefix(s, "refs/") && !strings.ContainsAny(s, " ~^:?*[\\\x00\n") && !strings.Contains(s, "..")
}

func fetchable(s string) bool {
	if from, to, ok := strings.Cut(s, ":"); ok {
		branch, isForced := strings.CutPrefix(from, "+refs/heads/")
		return isForced && plain("refs/heads/"+branch) && to == "refs/remotes/origin/"+branch
	}
	return plain(s)
}

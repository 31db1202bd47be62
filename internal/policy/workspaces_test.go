package policy

import "testing"

// TestJudges checks what patterns mean: they are compared with the path of the
// .small directory, and exclusion wins.
func TestJudges(t *testing.T) {
	some := Default()
	some.Include, some.Exclude = []string{".small", "services/**", "{a,b}/*"}, []string{"services/legacy/**"}
	for _, c := range []struct {
		name   string
		policy *Policy
		dir    string
		want   bool
	}{
		{"root", Default(), "", true},
		{"root as a dot", Default(), ".", true},
		{"below", Default(), "services/billing", true},
		{"testdata at the root", Default(), "testdata", false},
		{"testdata below", Default(), "internal/testdata/one/two", false},
		{"a name that begins the same", Default(), "testdata-tool", true},
		{"vendor", Default(), "vendor/example.org/x", false},
		{"included root", some, "", true},
		{"included tree", some, "services/billing/eu", true},
		{"excluded tree", some, "services/legacy", false},
		{"alternatives", some, "b", true},
		{"one level only", some, "b/c", false},
		{"not included", some, "web", false},
		{"malformed matches nothing", &Policy{Include: []string{"["}}, "", false},
	} {
		if got := c.policy.Judges(c.dir); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestBaselineFor(t *testing.T) {
	p := Default()
	p.Baselines = []Baseline{newBaseline(t, "a/.small/progress.small.yml"), newBaseline(t, ".small/progress.small.yml")}
	if got := p.BaselineFor(".small/progress.small.yml"); got != &p.Baselines[1] {
		t.Errorf("got %+v", got)
	}
	if got := p.BaselineFor("b/.small/progress.small.yml"); got != nil {
		t.Errorf("got %+v", got)
	}
}

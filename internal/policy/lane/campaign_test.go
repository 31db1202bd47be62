package lane

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/testkit/gittest"
)

// campaignOf writes a campaign in which child i depends on the children in edges[i].
func campaignOf(t *testing.T, n int, edges map[int][]int) *Record {
	t.Helper()
	var b strings.Builder
	b.WriteString("campaignChildren:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {name: c%d, status: pending, dependsOn: [", i)
		for k, on := range edges[i] {
			if k > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "c%d", on)
		}
		b.WriteString("]}\n")
	}
	r, problems := ParseRecord("campaigns/a.yml", []byte(b.String()), small.Limits{})
	if r == nil {
		t.Fatal(problems)
	}
	return r
}

// TestCircles: only the first circle of dependencies is a finding, however many there are.
func TestCircles(t *testing.T) {
	dense := map[int][]int{}
	for i := range 20 {
		for k := range 20 {
			if k != i {
				dense[i] = append(dense[i], k)
			}
		}
	}
	for _, c := range []struct {
		name  string
		n     int
		edges map[int][]int
		want  []string
	}{
		{"none", 3, map[int][]int{0: {1, 2}, 1: {2}}, nil},
		{"itself", 2, map[int][]int{1: {1}}, []string{"c1 -> c1"}},
		{"two", 4, map[int][]int{0: {1}, 1: {0}, 2: {3, 0}, 3: {2}}, []string{"c0 -> c1 -> c0"}},
		{"an eight", 3, map[int][]int{0: {1}, 1: {0, 2}, 2: {1}}, []string{"c0 -> c1 -> c0"}},
		{"everybody for everybody", 20, dense, []string{"c0 -> c1 -> c0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := campaignOf(t, c.n, c.edges).CheckChildren()
			if len(got) != len(c.want) {
				t.Fatalf("got %d problems, want %d: %v", len(got), len(c.want), got)
			}
			for i, p := range got {
				if want := "the dependencies form a cycle: " + c.want[i]; p.Message != want || p.Hint == "" {
					t.Errorf("got %q (%q), want %q", p.Message, p.Hint, want)
				}
			}
		})
	}
}

// TestCirclesDeep: a circle as long as a file may be does not exhaust the stack.
func TestCirclesDeep(t *testing.T) {
	const n = 10000
	edges := map[int][]int{n - 1: {0}}
	for i := range n - 1 {
		edges[i] = []int{i + 1}
	}
	if got := campaignOf(t, n, edges).CheckChildren(); len(got) != 1 {
		t.Fatalf("%d problems", len(got))
	}
}

// TestCirclesAtRandom checks for circles in another way: a child is reachable from itself.
func TestCirclesAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(gittest.Seed(7), 5))
	found := 0
	for range 400 {
		n := 1 + random.IntN(9)
		edges := map[int][]int{}
		reach := make([][]bool, n)
		for i := range n {
			reach[i] = make([]bool, n)
		}
		for range random.IntN(2 * n) {
			a, b := random.IntN(n), random.IntN(n)
			if !reach[a][b] {
				edges[a] = append(edges[a], b)
				reach[a][b] = true
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		want := 0
		for i := range n {
			if reach[i][i] {
				want = 1
			}
		}
		if got := campaignOf(t, n, edges).CheckChildren(); len(got) != want {
			t.Fatalf("%v: %d problems, want %d: %v", edges, len(got), want, got)
		}
		found += want
	}
	if found == 0 {
		t.Fatal("no circle was tried")
	}
}

// TestNearest: a record means the nearest workflow.
func TestNearest(t *testing.T) {
	files := []string{"a/workflows/job/workflow.md", "b/workflows/job/workflow.md", "b/workflows/ship/workflow.md", "workflows/ship/workflow.md"}
	r := &Record{Path: "b/jobs/7.json"}
	for name, want := range map[string]string{
		"workflows/job/workflow.md": "b/workflows/job/workflow.md", "workflows/job": "b/workflows/job/workflow.md",
		"./workflows/ship/workflow.md": "b/workflows/ship/workflow.md", "a/workflows/job": "a/workflows/job/workflow.md",
		"job": "b/workflows/job/workflow.md", "workflows": "", "ob/workflow.md": "",
	} {
		if got := r.Nearest(name, files); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

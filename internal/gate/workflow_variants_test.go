package gate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/catalogue"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/policy"
)

// The files of testdata/workflows/valid.txtar, for the variants.
const (
	standard = "workflows/job/workflow.md"
	fast     = "workflows/job-fast/workflow.md"
	deep     = "workflows/job-deep/workflow.md"
	wide     = "workflows/campaign/workflow.md"
	ship     = "workflows/ship/workflow.md" // which is not there
	job      = "jobs/7.json"
	children = "campaigns/import.yml"
)

// variants each break one thing in the valid files: in a file, a text is replaced.
// An old text that is empty stands for the whole file, and a new one that is
// "gone" for no file. Findings are written "path:line rule".
var variants = []struct {
	name, file, old, new string
	want                 []string
}{
	// The front matter.
	{"no front matter", standard, "", "# Standard job\n", []string{standard + ":1 workflow/front-matter"}},
	{"no end", fast, "true}\n---\n", "true}\n", []string{fast + ":1 workflow/front-matter"}},
	{"an empty front matter", fast, "", "---\n---\n", []string{fast + ":1 workflow/front-matter"}},
	{"a list", fast, "", "---\n- planning\n---\n", []string{fast + ":2 workflow/front-matter"}},
	{"not YAML", standard, "kind: job", "kind: [job", []string{standard + ":4 workflow/front-matter"}},
	{"a tab", standard, "    agent: agents/planner.md", "\tagent: agents/planner.md", []string{standard + ":15 workflow/front-matter"}},
	{"a key twice", standard, "kind: job\n", "kind: job\nkind: internal\n", []string{standard + ":5 workflow/front-matter"}},
	{"a conflict", standard, "kind: job\n", "<<<<<<< HEAD\nkind: job\n=======\nkind: internal\n>>>>>>> other\n", []string{standard + ":4 workflow/front-matter"}},
	{"an alias without end", fast, "kind: job", "kind: &a [*a]", []string{fast + ":3 workflow/front-matter"}},
	{"an unknown key beside what is wrong", standard, "kind: job", "knd: [job]\nkind: [job]", []string{standard + ":4 workflow/unknown-key", standard + ":5 workflow/front-matter"}},
	{"a second document", fast, "kind: job", "kind: job\n...\nkind: job", []string{fast + ":5 workflow/front-matter"}},
	{"an unknown key", standard, "initial_status: queued", "initial_state: queued", []string{standard + ":6 workflow/unknown-key"}},
	{"an unknown key of a phase", standard, "    tier: planning", "    teir: planning", []string{standard + ":16 workflow/unknown-key"}},
	{"an unknown key of a subagent", standard, "        tier: mini", "        tear: mini", []string{standard + ":24 workflow/unknown-key"}},
	{"no phases", wide, "", "---\nkind: campaign\n---\n", []string{wide + ":2 workflow/front-matter"}},
	{"an empty list of phases", wide, "", "---\nphases: []\n---\n", []string{wide + ":2 workflow/front-matter"}},
	{"a phase without a name", standard, "  - name: planning\n    agent", "  - agent", []string{standard + ":14 workflow/front-matter"}},
	{"a blank name", standard, "name: planning\n", "name: \" \"\n", []string{standard + ":14 workflow/front-matter"}},
	{"a checkpoint that is a word", standard, "interactive_checkpoint: true", "interactive_checkpoint: \"yes\"", []string{standard + ":31 workflow/front-matter"}},
	{"tools that are a word", standard, "tools: [read, edit, run]", "tools: read", []string{standard + ":20 workflow/front-matter"}},
	{"a subagent without an agent", fast, "{name: code-reviewer, agent: agents/code-reviewer.md}", "{name: code-reviewer}", []string{fast + ":9 workflow/front-matter"}},
	{"an override that says nothing", standard, "    initial_phase: planning\n", "    {}\n", []string{standard + ":9 workflow/front-matter"}},
	{"a name without quotes that is a date", standard, "name: review\n", "name: 2026-03-01\n", []string{standard + ":25 workflow/front-matter"}},

	// The phases.
	{"a phase twice", deep, "{name: qa,", "{name: review,", []string{deep + ":4 workflow/shape", deep + ":13 workflow/phase"}},
	{"no such initial phase", standard, "initial_phase: spec-writing", "initial_phase: specwriting", []string{standard + ":5 workflow/phase"}},
	{"no such phase in an override", standard, "    initial_phase: planning", "    initial_phase: plan", []string{standard + ":9 workflow/phase"}},
	{"no agent, and that is said", standard, "    agent: agents/planner.md\n", "    agent: ~\n", nil},
	{"an agent left out", wide, "{name: aggregation, agent: agents/evaluator.md}", "{name: aggregation}", []string{wide + ":7 workflow/phase"}},
	{"an unknown tier", standard, "tier: coding", "tier: large", []string{standard + ":19 workflow/phase"}},
	{"an unknown tier of a subagent", standard, "tier: mini", "tier: small", []string{standard + ":24 workflow/phase"}},
	{"a subagent twice", fast, "      - {name: code-reviewer, agent: agents/code-reviewer.md}\n", "      - {name: code-reviewer, agent: agents/code-reviewer.md}\n      - {name: code-reviewer, agent: agents/coder.md}\n", []string{fast + ":10 workflow/phase"}},

	// The agents.
	{"an agent's file that is not there", standard, "agents/planner.md", "agents/planer.md", []string{standard + ":15 workflow/agent"}},
	{"a subagent's file that is not there", deep, "agents/code-reviewer.md", "agents/codereviewer.md", []string{deep + ":11 workflow/agent"}},
	{"an agent's folder", standard, "agents/evaluator.md", "agents", []string{standard + ":30 workflow/agent"}},
	{"an agent's file elsewhere", standard, "agents/evaluator.md", "../agents/evaluator.md", []string{standard + ":30 workflow/agent"}},
	{"an agent's file that is gone", "agents/analyst.md", "", "gone", []string{
		"workflows/campaign-2024/workflow.md:5 workflow/agent", deep + ":6 workflow/agent",
	}},

	// The shapes, and who is asked.
	{"it begins behind the specification", standard, "initial_phase: spec-writing", "initial_phase: planning", []string{standard + ":5 workflow/shape"}},
	{"no review", standard, "name: review\n", "name: second-look\n", []string{standard + ":10 workflow/shape"}},
	{"no analysis", deep, "  - {name: analysis, agent: agents/analyst.md}\n", "", []string{job + ":20 workflow/history-invalid", deep + ":4 workflow/shape"}},
	{"no verification", fast, "review-and-verify", "reading", []string{fast + ":4 workflow/shape"}},
	{"no reviewer beside the code", standard, "      - name: code-reviewer", "      - name: helper", []string{standard + ":17 workflow/shape"}},
	{"another order", fast, "", "---\nphases:\n  - {name: review-and-verify, agent: agents/reviewer.md}\n  - {name: planning, agent: agents/planner.md}\n" +
		"  - {name: coding, agent: agents/coder.md, interactive_checkpoint: true, subagents: [{name: code-reviewer, agent: agents/coder.md}]}\n---\n", []string{fast + ":3 workflow/shape"}},
	{"an agent that coordinates", wide, "agent: null", "agent: agents/planner.md", []string{wide + ":6 workflow/shape"}},
	{"no aggregation", wide, "name: aggregation", "name: summing-up", []string{wide + ":4 workflow/shape"}},
	{"nobody is asked", fast, ", interactive_checkpoint: true", "", []string{fast + ":4 workflow/checkpoint"}},
	{"nobody is asked, in so many words", standard, "interactive_checkpoint: true", "interactive_checkpoint: false", []string{standard + ":10 workflow/checkpoint"}},

	{"nobody is asked, by a kind in capitals", ship, "", onePhase("kind: JOB\n", "planning", ""), []string{ship + ":3 workflow/checkpoint"}},
	{"nobody is asked in a campaign", ship, "", onePhase("kind: Campaign\n", "planning", ""), []string{ship + ":3 workflow/checkpoint"}},
	{"nobody is asked, and no kind says of what", ship, "", onePhase("", "coding", ""), []string{ship + ":2 workflow/checkpoint"}},
	{"nobody is asked, with a blank kind", ship, "", onePhase("kind: ' '\n", "coding", ""), []string{ship + ":2 workflow/front-matter"}},
	{"nobody is asked before code of another name", ship, "", onePhase("", "building", ", tier: coding"), []string{ship + ":2 workflow/checkpoint"}},
	{"nobody need be asked where nothing is written", ship, "", onePhase("", "planning", ""), nil},
	{"nobody need be asked inside", ship, "", onePhase("kind: internal\n", "coding", ""), nil},
	{"somebody is asked", ship, "", onePhase("", "coding", ", interactive_checkpoint: true"), nil},
	{"a well-known name in capitals", "workflows/Job-Fast/workflow.md", "", onePhase("", "planning", ""), []string{
		"workflows/Job-Fast/workflow.md:2 workflow/checkpoint", "workflows/Job-Fast/workflow.md:2 workflow/shape", "workflows/Job-Fast/workflow.md:2 workflow/shape",
	}},

	// The switch history.
	{"not JSON", job, "\"id\": \"7\",", "\"id\": \"7\"", []string{job + ":3 workflow/history-invalid"}},
	{"a key of a record twice", job, "\"id\": \"7\",", "\"id\": \"7\",\n  \"id\": \"8\",", []string{job + ":3 workflow/history-invalid"}},
	{"a history that is no list", job, "", "{\n  \"workflowPathHistory\": {}\n}\n", []string{job + ":2 workflow/history-invalid"}},
	{"no reason", job, "      \"reason\": \"a migration is needed\",\n", "", []string{job + ":15 workflow/history-invalid"}},
	{"a blank reason", job, "a migration is needed", "  ", []string{job + ":21 workflow/history-invalid"}},
	{"no time", job, "2026-03-01T09:10:00Z", "yesterday", []string{job + ":7 workflow/history-invalid"}},
	{"backwards in time", job, "2026-03-01T10:30:00.5+01:00", "2026-03-01T10:05:00+01:00", []string{job + ":16 workflow/history-invalid"}},
	{"a gap", job, "\"from\": \"workflows/job/workflow.md\"", "\"from\": \"workflows/job-fast/workflow.md\"", []string{job + ":17 workflow/history-invalid"}},
	{"another workflow is active", job, "\"workflowPath\": \"workflows/job-deep/workflow.md\"", "\"workflowPath\": \"workflows/job/workflow.md\"", []string{job + ":3 workflow/history-invalid"}},
	{"none is active", job, "  \"workflowPath\": \"workflows/job-deep/workflow.md\",\n", "", []string{job + ":17 workflow/history-invalid"}},
	{"no such workflow", deep, "", "gone", []string{job + ":18 workflow/history-invalid"}},
	{"no such phase", job, "\"toPhase\": \"analysis\"", "\"toPhase\": \"analyses\"", []string{job + ":20 workflow/history-invalid"}},
	{"no such phase before", job, "\"fromPhase\": \"coding\"", "\"fromPhase\": \"code\"", []string{job + ":19 workflow/history-invalid"}},
	{"a switch to what is active", job, "\"from\": \"workflows/job-fast/workflow.md\"", "\"from\": \"workflows/job/workflow.md\"", []string{job + ":9 workflow/history-invalid"}},
	{"a child becomes a campaign", job, "\"reason\": \"a migration is needed\",\n      \"by\": \"switch_workflow\"", "\"reason\": \"a migration is needed\",\n      \"by\": \"convert_to_campaign\"", []string{job + ":18 workflow/history-invalid"}},
	{"a child runs as a campaign", job, "", "{\n  \"workflowPath\": \"workflows/campaign/workflow.md\",\n  \"params\": {\"epicAllowed\": false}\n}\n", []string{job + ":2 workflow/history-invalid"}},
	{"no phase before", job, "      \"fromPhase\": \"coding\",\n", "", []string{job + ":15 workflow/history-invalid"}},
	{"an empty phase before", job, "\"fromPhase\": \"coding\"", "\"fromPhase\": \"\"", []string{job + ":19 workflow/history-invalid"}},
	{"null before", job, "\"fromPhase\": \"coding\"", "\"fromPhase\": null", []string{job + ":19 workflow/history-invalid"}},
	{"a time that is a number", job, "\"2026-03-01T09:10:00Z\"", "20260301", []string{job + ":7 workflow/history-invalid"}},
	{"a time that is null", job, "\"2026-03-01T09:10:00Z\"", "null", []string{job + ":7 workflow/history-invalid"}},
	{"a workflow that is nowhere, without switches", job, "", "{\n  \"workflowPath\": \"workflows/jobb/workflow.md\"\n}\n", []string{job + ":2 workflow/history-invalid"}},
	{"a campaign's workflow that is nowhere", children, "workflows/campaign/workflow.md", "workflows/campagne/workflow.md", []string{children + ":1 workflow/history-invalid"}},
	{"no path of the workflow", children, "workflows/campaign/workflow.md", "''", []string{children + ":1 workflow/history-invalid"}},
	{"from a workflow that is nowhere", job, "\"from\": \"workflows/job-fast/workflow.md\"", "\"from\": \"workflows/quick/workflow.md\"", []string{job + ":8 workflow/history-invalid"}},

	// What was given from upstream.
	{"a lane that is misspelt", job, "\"lane\": \"deep\"", "\"lane\": \"dep\"", []string{job + ":4 workflow/history-invalid"}},
	{"a lane that is a number", job, "\"lane\": \"deep\"", "\"lane\": 3", []string{job + ":4 workflow/history-invalid"}},
	{"several lanes", job, "\"lane\": \"deep\"", "\"lane\": [\"deep\"]", []string{job + ":4 workflow/history-invalid"}},
	{"a lane without a name", job, "\"lane\": \"deep\"", "\"lane\": \"\"", []string{job + ":4 workflow/history-invalid"}},
	{"params that are a list", job, "{\"epicAllowed\": false, \"lane\": \"deep\"}", "[]", []string{job + ":4 workflow/history-invalid"}},
	{"a ban in words", job, "\"epicAllowed\": false", "\"epicAllowed\": \"false\"", []string{job + ":4 workflow/history-invalid"}},

	// The campaign.
	{"an unknown child", children, "dependsOn: [reader, writer]", "dependsOn: [reader, writter]", []string{children + ":12 workflow/campaign-invalid"}},
	{"a circle", children, "name: schema, status: complete", "name: schema, dependsOn: [docs], status: pending", []string{children + ":5 workflow/campaign-invalid"}},
	{"a child that waits for itself", children, "name: schema, status: complete", "name: schema, dependsOn: [schema], status: pending", []string{children + ":3 workflow/campaign-invalid"}},
	{"complete too early", children, "status: pending", "status: complete", []string{children + ":13 workflow/campaign-invalid"}},
	{"a status that is none", children, "status: dispatched", "status: running", []string{children + ":6 workflow/campaign-invalid"}},
	{"a child twice", children, "name: docs", "name: reader", []string{children + ":11 workflow/campaign-invalid"}},
	{"a child without a name", children, "  - name: docs\n    dependsOn", "  - dependsOn", []string{children + ":11 workflow/campaign-invalid"}},
	{"a campaign that is no YAML", children, "dependsOn: [schema]\n    status: skipped", "dependsOn: [schema\n    status: skipped", []string{children + ":9 workflow/campaign-invalid"}},
}

// onePhase is a workflow of one phase.
func onePhase(kind, phase, more string) string {
	return "---\n" + kind + "phases:\n  - {name: " + phase + ", agent: agents/planner.md" + more + "}\n---\n"
}

// TestWorkflowVariants: the valid files have no finding, and each variant has
// just those that it says, at the lines that it says.
func TestWorkflowVariants(t *testing.T) {
	if len(variants) < 40 {
		t.Fatalf("only %d variants", len(variants))
	}
	if got := judgeFiles(t, validFiles(t)); len(got) > 0 {
		t.Fatalf("the valid files have findings:\n%s", strings.Join(got, "\n"))
	}
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			files := validFiles(t)
			switch was, there := files[v.file]; {
			case !there && v.old != "" || v.old != "" && strings.Count(was, v.old) != 1:
				t.Fatalf("%s holds %q %d times", v.file, v.old, strings.Count(was, v.old))
			case v.new == "gone":
				delete(files, v.file)
			case v.old == "":
				files[v.file] = v.new
			default:
				files[v.file] = strings.Replace(was, v.old, v.new, 1)
			}
			if diff := cmp.Diff(v.want, judgeFiles(t, files)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBrokenWorkflow: a workflow that cannot be read is a finding of its own, and
// not one about a record that names it by its folder and by its file.
func TestBrokenWorkflow(t *testing.T) {
	files := validFiles(t)
	files[standard] = "# Standard job\n"
	files[job] = strings.Replace(files[job], `"from": "workflows/job/workflow.md"`, `"from": "workflows/job"`, 1)
	if diff := cmp.Diff([]string{standard + ":1 workflow/front-matter"}, judgeFiles(t, files)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestPart: if only a part of a repository is checked, a workflow that a record names
// and that cannot be seen from there is not reported as another one, or as missing.
func TestPart(t *testing.T) {
	files := map[string]string{
		policy.File: validFiles(t)[policy.File],
		job:         strings.Replace(validFiles(t)[job], `"from": "workflows/job/workflow.md"`, `"from": "workflows/job"`, 1),
	}
	if diff := cmp.Diff([]string(nil), judgeFiles(t, files, func(o *run.Options) { o.PartOfTree = true })); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func validFiles(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "workflows", "valid.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range catalogue.ParseExample(string(text)).Files {
		files[f.Path] = f.Content
	}
	return files
}

// needsFix fails if a finding does not say what to do.
func needsFix(t *testing.T, f finding.Finding) {
	t.Helper()
	if f.Fix == "" || strings.HasSuffix(f.Fix, "write ") || strings.HasSuffix(f.Fix, ": ") {
		t.Errorf("%s:%d (%s) says %q and to do %q", f.Path, f.Line, f.Rule, f.Message, f.Fix)
	}
}

func judgeFiles(t *testing.T, files map[string]string, with ...func(*run.Options)) []string {
	t.Helper()
	config, err := policy.Parse("the test", []byte(files[policy.File]), catalogue.Known())
	if err != nil {
		t.Fatal(err)
	}
	tree := fileTree{}
	for path, content := range files {
		tree[path] = blobFile{data: content}
	}
	h := newMemoryHistory()
	opts := testOptions()
	opts.Policy = config
	for _, change := range with {
		change(&opts)
	}
	r := gate.CheckAll(context.Background(), h, h.commit(tree), "", opts)
	if r.Failure != nil {
		t.Fatal(r.Failure)
	}
	var out []string
	for _, f := range r.Findings {
		needsFix(t, f)
		out = append(out, fmt.Sprintf("%s:%d %s", f.Path, f.Line, f.Rule))
	}
	return out
}

package gate_test

import (
	"context"
	"testing"
	"time"

	"github.com/small-gate/small-gate/internal/gate"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/gate/run"
	"github.com/small-gate/small-gate/internal/testkit/conformance"
)

// memoryTree is a snapshot held in memory: object ids are paths.
type memoryTree map[string][]byte

func (m memoryTree) List(context.Context, string, history.Filter) ([]history.File, error) {
	var out []history.File
	for path := range m {
		out = append(out, history.File{Path: path, Mode: "100644", Object: path})
	}
	return out, nil
}

func (m memoryTree) Blob(_ context.Context, object string, limit int64) (history.Blob, error) {
	data := m[object]
	if int64(len(data)) > limit {
		return history.Blob{Size: int64(len(data))}, nil
	}
	return history.Blob{Size: int64(len(data)), Data: data}, nil
}

// TestConformance demands the verdict of every recorded workspace, plain and
// strict.
func TestConformance(t *testing.T) {
	for _, c := range conformance.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			for _, strict := range []bool{false, true} {
				want := c.Check
				if strict {
					want = c.Strict
				}
				report := gate.Check(context.Background(), memoryTree(c.Files), "", "", run.Options{
					Mode: "check", Strict: strict, Kinds: []string{read.KindRepoRoot}, Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
				})
				if string(report.Verdict) != want {
					t.Errorf("strict %v: verdict %s, want %s; findings: %+v; failure: %v", strict, report.Verdict, want, report.Findings, report.Failure)
				}
			}
		})
	}
}

package edit

import (
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/policy"
)

// Files and folders that are named like logs are candidates, unless they are guarded or belong to others.
func TestCandidates(t *testing.T) {
	var files []history.File
	for _, name := range strings.Fields(`sub/deep/progress.txt CHANGES.rst debian/changelog decisions.jsonl src/history.go src/changes.go
		db/migrations/1.sql db/migrations/2.sql one/migrations/1.sql docs/adr/changes.md docs/adr/0002.md prisma/migrations/a/m.sql prisma/migrations/b/m.sql
		vendor/x/CHANGELOG.md web/node_modules/y/CHANGELOG.md guarded/CHANGELOG.md`) {
		files = append(files, history.File{Path: name, Mode: history.ModePlain})
	}
	files = append(files, history.File{Path: "CHANGELOG.md", Mode: history.ModeLink}, history.File{Path: "bin/audit", Mode: history.ModeProgram})
	p := policy.Default()
	p.Logs = []policy.Log{{Path: "guarded/**"}}
	want := "CHANGES.rst decisions.jsonl db/migrations debian/changelog docs/adr prisma/migrations sub/deep/progress.txt"
	if got := strings.Join(candidatesAmong(files, p), " "); got != want {
		t.Errorf("the candidates are %s, not %s", got, want)
	}
}

// Package families is the list of what plugs into the core.
package families

import (
	"embed"

	"github.com/small-gate/small-gate/internal/gate/families/evidence"
	"github.com/small-gate/small-gate/internal/gate/families/lanes"
	"github.com/small-gate/small-gate/internal/gate/families/leases"
	"github.com/small-gate/small-gate/internal/gate/families/ownership"
	"github.com/small-gate/small-gate/internal/gate/families/profile2"
	"github.com/small-gate/small-gate/internal/gate/families/secrets"
	"github.com/small-gate/small-gate/internal/gate/families/witnesses"
	"github.com/small-gate/small-gate/internal/gate/families/workflows"
	"github.com/small-gate/small-gate/internal/gate/run"
)

// All are the families, in documented order, which is also that of their passes.
var All = []run.Family{
	profile2.Family,
	ownership.Family,
	leases.Family,
	secrets.Family,
	evidence.Family,
	lanes.Family,
	workflows.Family,
	witnesses.Family,
}

// Texts are the texts of the families' rules: NAME/texts/ID.txt.
//
//go:embed */texts
var Texts embed.FS

// Package rules is the list of what plugs into the core.
package rules

import (
	"embed"

	"github.com/small-gate/small-gate/internal/gate/rules/appendonly"
	"github.com/small-gate/small-gate/internal/gate/rules/divergence"
	"github.com/small-gate/small-gate/internal/gate/rules/evidence"
	"github.com/small-gate/small-gate/internal/gate/rules/lanes"
	"github.com/small-gate/small-gate/internal/gate/rules/leases"
	"github.com/small-gate/small-gate/internal/gate/rules/ownership"
	"github.com/small-gate/small-gate/internal/gate/rules/profile2"
	"github.com/small-gate/small-gate/internal/gate/rules/secrets"
	"github.com/small-gate/small-gate/internal/gate/rules/witnesses"
	"github.com/small-gate/small-gate/internal/gate/rules/workflows"
	"github.com/small-gate/small-gate/internal/gate/run"
)

// All are the families, in documented order, which is also that of their passes.
var All = []run.Family{
	appendonly.Family,
	divergence.Family,
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

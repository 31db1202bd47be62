package subject

import (
	"github.com/small-gate/small-gate/internal/gate/rule"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/witness"
)

// WitnessedChange is how a log changed since a witness saw it.
type WitnessedChange struct {
	*LogChange
	// Ref is the full name.
	Ref string
	// Seen is the log as the witness knows it.
	Seen witness.Log
	// Survives is true if the commit that was seen is still in the clone: else nothing but digests is known of the old entries.
	Survives bool
	// BuiltOn is true if that commit is an ancestor of what the ref holds now.
	BuiltOn bool
}

// WitnessedLoss is a ref, or a log, that a witness has seen and that is gone.
type WitnessedLoss struct {
	rule.Place
	// Ref is the full name.
	Ref string
	// Path is the log's; empty if the whole ref is gone.
	Path string
	// Logs are those that were seen: all of the ref, or the one.
	Logs []witness.Log
	// Problems say why the log cannot be read, if there is a file at its path.
	Problems []small.Problem
	// Survives is true if the commit that was seen last is still in the clone, BuiltOn if the ref still leads to it.
	Survives, BuiltOn bool
}

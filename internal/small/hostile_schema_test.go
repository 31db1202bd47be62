package small_test

import (
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/schema"
)

func init() {
	small.CheckArtifact = func(a small.Artifact, doc *small.Document) { schema.CheckArtifact(a, doc) }
}

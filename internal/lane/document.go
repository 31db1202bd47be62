package lane

import (
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
)

// IsDocument reports whether a path is one of a document, whose change needs no
// more than fast.
func IsDocument(path string, _ *policy.Lanes) bool {
	return strings.HasSuffix(path, ".md") || strings.HasPrefix(path, "docs/")
}

package gate

import (
	"crypto/sha256"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// maxReported bounds how many edits are remembered: more than any one log has
// entries. An edit past it that is seen on two edges is counted twice.
const maxReported = 1 << 20

// reportedEdits maps the edits that findings speak of to their severity, an index
// of severities. There may be a million, so each takes as little as possible.
type reportedEdits map[reportedEdit]uint8

// reportedEdit is an editKey, with digests instead of their texts.
type reportedEdit struct {
	path     string
	from, to small.Digest // zero where there is none
}

var severities = [...]Severity{SeverityWarning, SeverityError, severityWaived}

func shortKey(k editKey) reportedEdit {
	return reportedEdit{path: k.path, from: shortText(k.from), to: shortText(k.to)}
}

// shortText is the digest that a text writes, or the digest of the text.
func shortText(text string) small.Digest {
	if text == "" {
		return small.Digest{}
	}
	if d, err := small.ParseDigest(text); err == nil {
		return d
	}
	return sha256.Sum256([]byte(text))
}

// of returns the severity with which an edit was reported; false if it was not.
func (r reportedEdits) of(k editKey) (Severity, bool) {
	i, known := r[shortKey(k)]
	return severities[i], known
}

// note remembers that an edit was reported. Only a warning can become something
// else later.
func (r reportedEdits) note(k editKey, s Severity) {
	short := shortKey(k)
	before, known := r[short]
	if known && severities[before] != SeverityWarning || !known && len(r) >= maxReported {
		return
	}
	r[short] = uint8(slices.Index(severities[:], s))
}

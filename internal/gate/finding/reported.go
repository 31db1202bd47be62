package finding

import (
	"crypto/sha256"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// maxReported bounds how many edits are remembered: more than any log has entries. An edit past it that is seen on
// two edges is counted twice.
const maxReported = 1 << 20

// ReportedEdits maps edits to the severity of their findings, an index of Severities. There may be a million, so
// each is small.
type ReportedEdits map[reportedEdit]uint8

// reportedEdit is an EditKey with digests instead of texts.
type reportedEdit struct {
	Path     string
	From, To small.Digest // zero where there is none
}

// Severities are numbered, so that one takes a byte.
var Severities = [...]Severity{SeverityWarning, SeverityError, SeverityWaived}

func shortKey(k EditKey) reportedEdit {
	return reportedEdit{Path: k.Path, From: shortText(k.From), To: shortText(k.To)}
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

// Of returns the severity with which an edit was reported; false if it was not.
func (r ReportedEdits) Of(k EditKey) (Severity, bool) {
	i, known := r[shortKey(k)]
	return Severities[i], known
}

// Note remembers that an edit was reported. Only a warning can become something else later.
func (r ReportedEdits) Note(k EditKey, s Severity) {
	short := shortKey(k)
	before, known := r[short]
	if known && Severities[before] != SeverityWarning || !known && len(r) >= maxReported {
		return
	}
	r[short] = uint8(slices.Index(Severities[:], s))
}

// EditKey identifies an edit wherever it is seen. From or To is empty if there is no entry.
type EditKey struct{ Path, From, To string }

package finding

import (
	"crypto/sha256"
	"slices"

	"github.com/small-gate/small-gate/internal/small"
)

// maxReported is the largest number of edits that are remembered. It is more than any log has entries; beyond it, an edit seen on
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

// Severities lists the severities; ReportedEdits stores their indexes, of a byte each.
var Severities = [...]Severity{SeverityWarning, SeverityError, SeverityWaived, SeverityNote}

func digestKey(k EditKey) reportedEdit {
	return reportedEdit{Path: k.Path, From: digestOfText(k.From), To: digestOfText(k.To)}
}

// digestOfText parses a text that is a digest, and hashes any other.
func digestOfText(text string) small.Digest {
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
	i, known := r[digestKey(k)]
	return Severities[i], known
}

// Note remembers that an edit was reported. Only a warning or a note can become something else later.
func (r ReportedEdits) Note(k EditKey, s Severity) {
	short := digestKey(k)
	before, known := r[short]
	if known && Severities[before] != SeverityWarning && Severities[before] != SeverityNote || !known && len(r) >= maxReported {
		return
	}
	r[short] = uint8(slices.Index(Severities[:], s))
}

// EditKey identifies an edit wherever it is seen. From or To is empty if there is no entry.
type EditKey struct{ Path, From, To string }

// EarlierFindings counts findings by fingerprint and severity: an error is not left out because of an equal
// warning.
type EarlierFindings struct {
	Seen map[FindingKey]int
	// Remaining counts findings that are to be left out from here on; nil while nothing is.
	Remaining map[FindingKey]int
}

// FindingKey is equal for findings that say the same.
type FindingKey struct {
	fingerprint [8]byte // its beginning
	severity    Severity
}

// Has counts a finding, and reports whether it was reported earlier and is to be left out.
func (e *EarlierFindings) Has(f *Finding) bool {
	if e == nil {
		return false
	}
	sum := f.sum()
	key := FindingKey{[8]byte(sum[:8]), f.Severity}
	for _, k := range []FindingKey{key, {key.fingerprint, SeverityError}} {
		if e.Remaining[k] > 0 {
			e.Remaining[k]--
			return true
		}
	}
	e.Seen[key]++
	return false
}

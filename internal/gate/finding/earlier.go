package finding

// EarlierFindings counts findings by fingerprint and severity: an error is not left out because of an equal
// warning.
type EarlierFindings struct {
	Seen map[FindingKey]int
	// Remaining may be left out from here on; nil while nothing is.
	Remaining map[FindingKey]int
}

// FindingKey stands for findings that say the same.
type FindingKey struct {
	fingerprint [8]byte // its beginning
	severity    Severity
}

// Has notes a finding, and reports whether it was reported earlier and is to be left out.
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

package small

// DefaultMaxFileSize is the largest file that is parsed unless a caller says
// otherwise: 16 MiB. The largest public log is 1.1 MB.
const DefaultMaxFileSize = 16 << 20

// Limits of one file. With the size limit they keep the worst known file at about four seconds of processor time and
// below a gigabyte of memory, digests and schema included (TestHostileFiles).
const (
	// maxDepth bounds nesting, also through aliases. The artifacts need about six levels.
	maxDepth = 1000
	// maxStructure bounds the places at which a node can begin (line breaks, commas, brackets, key and item
	// indicators), and so the memory of the parsed form. A 16 MiB log of ordinary entries has about 700,000. It grows
	// in proportion to a larger size limit.
	maxStructure = 3 << 19
	// maxDirectives bounds the lines that begin with "%", as YAML directives do: the parser compares each directive
	// with all earlier ones.
	maxDirectives = 100
	// Aliases may add aliasFactor times the document's own nodes and bytes, plus these floors, but at most
	// maxStructure nodes and DefaultMaxFileSize bytes.
	aliasFactor     = 10
	aliasFloorNodes = 10_000
	aliasFloorBytes = 1 << 20
	// maxParseProblems bounds the problems that are listed for one file.
	maxParseProblems = 100
)

// Limits bounds what parsing one file may cost.
type Limits struct {
	// MaxFileSize in bytes; 0 means DefaultMaxFileSize.
	MaxFileSize int64
}

// FileSize returns the size limit in bytes.
func (l Limits) FileSize() int64 {
	if l.MaxFileSize > 0 {
		return l.MaxFileSize
	}
	return DefaultMaxFileSize
}

// Structure returns the limit of [Document.Structure].
func (l Limits) Structure() int {
	return maxStructure * int(max(1, l.FileSize()/DefaultMaxFileSize))
}

package small

// DefaultMaxFileSize is the largest file that is parsed unless a caller says
// otherwise: 16 MiB. The largest public log is 1.1 MB.
const DefaultMaxFileSize = 16 << 20

// What a parsed file may cost. Together with the size limit these keep the
// worst file that is known at about four seconds of processor time and below a
// gigabyte, digests and schema included (TestHostileFiles).
const (
	// maxDepth bounds nesting, aliases followed. The artifacts need about six
	// levels.
	maxDepth = 1000
	// maxStructure bounds the places at which a node can begin (line breaks,
	// commas, brackets, key and item indicators), and so the memory that the
	// parsed form takes. A 16 MiB log of ordinary entries has about 700,000. A
	// caller who raises the size limit raises this one in proportion.
	maxStructure = 3 << 19
	// maxDirectives bounds the lines that begin with "%", as YAML directives
	// do: the parser compares each with all before it.
	maxDirectives = 100
	// Aliases may add to a document aliasFactor times its own number of nodes
	// and bytes, and these many more, but never more than a document without
	// aliases could hold.
	aliasFactor     = 10
	aliasFloorNodes = 10_000
	aliasFloorBytes = 1 << 20
	// maxParseProblems bounds what is listed of a file that cannot be read.
	maxParseProblems = 100
)

// Limits bounds what parsing one file may cost.
type Limits struct {
	// MaxFileSize in bytes; 0 means DefaultMaxFileSize.
	MaxFileSize int64
}

// FileSize is the limit in force, in bytes.
func (l Limits) FileSize() int64 {
	if l.MaxFileSize > 0 {
		return l.MaxFileSize
	}
	return DefaultMaxFileSize
}

// Structure is the limit of structure in force.
func (l Limits) Structure() int {
	return maxStructure * int(max(1, l.FileSize()/DefaultMaxFileSize))
}

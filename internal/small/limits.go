package small

// DefaultMaxFileSize is the largest file that is parsed unless a caller says
// otherwise: 16 MiB. The largest public log is 1.1 MB.
const DefaultMaxFileSize = 16 << 20

const (
	// maxDepth bounds nesting. The artifacts need about six levels.
	maxDepth = 1000
	// maxStructure bounds the number of bytes that can begin a node (line
	// breaks, brackets, commas, key indicators), and so the memory that a
	// parsed file takes: a 16 MiB log of ordinary entries has about 700,000.
	maxStructure = 3 << 20
	// Aliases may expand a document to this many times its own number of
	// nodes, and this many nodes more.
	aliasFactor = 10
	aliasFloor  = 10_000
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

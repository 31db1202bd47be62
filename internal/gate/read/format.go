package read

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// format says how the entries of a log are read from its file. Nothing else depends on a log's kind.
type format struct {
	// read reads a whole text; values gives the entries in full, unless the file itself is the entry.
	read   func(f history.File, data []byte, limits small.Limits) (*ledger.Log, []small.Problem)
	values func(f history.File, data []byte, limits small.Limits) ([]*small.Value, []small.Problem)
	// grows is true if a version is best read from one before or after it.
	grows bool
	// ofFile is true if the file itself is the log's one entry. Its text may not be needed, and its name counts.
	ofFile, needsText bool
}

// progressFormat is that of the protocol's own log.
var progressFormat = format{
	read: func(_ history.File, data []byte, limits small.Limits) (*ledger.Log, []small.Problem) {
		return ledger.ReadLog(data, limits)
	},
	values: func(_ history.File, data []byte, limits small.Limits) ([]*small.Value, []small.Problem) {
		doc, problems := small.Parse(data, limits)
		if doc == nil {
			return nil, problems
		}
		return doc.Root.Get("entries").Items, nil
	},
	grows: true,
}

// familyFormat is that of a family's log.
func familyFormat(of *policy.Format) format {
	return format{
		read: func(f history.File, data []byte, limits small.Limits) (*ledger.Log, []small.Problem) {
			return of.Read(f.Path, data, limits)
		},
		values: func(f history.File, data []byte, limits small.Limits) ([]*small.Value, []small.Problem) {
			return of.Values(f.Path, data, limits)
		},
	}
}

// formatOf is the format of a stanza's logs.
func formatOf(l *policy.Log) format {
	switch l.Entries {
	case policy.LineEntries:
		return lineFormat(l.Secrets)
	case policy.ListEntries:
		return listFormat(l.At, l.Secrets)
	}
	return fileFormat(l.EOL == "any")
}

func lineFormat(secrets bool) format {
	return format{
		read: func(_ history.File, data []byte, _ small.Limits) (*ledger.Log, []small.Problem) {
			return ledger.ReadLines(data, secrets)
		},
		values: func(_ history.File, data []byte, _ small.Limits) ([]*small.Value, []small.Problem) {
			return ledger.LineValues(data), nil
		},
		grows: true,
	}
}

func listFormat(at string, secrets bool) format {
	items := func(f history.File, data []byte, limits small.Limits) ([]*small.Value, []small.Problem) {
		return small.ParseItems(data, strings.HasSuffix(f.Path, ".json"), at, limits)
	}
	return format{
		read: func(f history.File, data []byte, limits small.Limits) (*ledger.Log, []small.Problem) {
			list, problems := items(f, data, limits)
			if problems != nil {
				return nil, problems
			}
			return ledger.OfItems(list, secrets), nil
		},
		values: items,
	}
}

// fileFormat identifies a file's content by git's object id or, if line endings do not count, by the text with line feeds alone.
func fileFormat(anyEnd bool) format {
	return format{
		read: func(f history.File, data []byte, _ small.Limits) (*ledger.Log, []small.Problem) {
			content := f.Object
			if anyEnd && f.Mode != history.ModeLink {
				sum := sha256.Sum256(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
				content = hex.EncodeToString(sum[:])
			}
			return ledger.OfFile(path.Base(f.Path), f.Mode, content), nil
		},
		ofFile: true, needsText: anyEnd,
	}
}

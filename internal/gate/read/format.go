package read

import (
	"path"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/policy"
	"github.com/small-gate/small-gate/internal/small"
)

// format says how the entries of a log are read from its file.
type format struct {
	// read makes the log from the whole text. values returns the entries in full; it is nil if the file itself is the entry.
	read   func(f history.File, data []byte, limits small.Limits) (*ledger.Log, []small.Problem)
	values func(f history.File, data []byte, limits small.Limits) ([]*small.Value, []small.Problem)
	// openEntries returns the entries of a readable text that are not finished; it is nil for a format in which all entries are.
	openEntries func(f history.File, data []byte, limits small.Limits) ledger.OpenEntries
	// extendable is true if a version can be read faster with the help of an earlier or a later one.
	extendable bool
	// fileIsEntry is true if the file itself is the log's one entry, which then also depends on the file's name. needsText is true if the entry
	// depends on the file's text, and not only on its id.
	fileIsEntry, needsText bool
}

// progressFormat is the format of the protocol's own log.
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
	extendable: true,
}

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

func formatOf(l *policy.Log) format {
	switch l.Entries {
	case policy.LineEntries, policy.BlockEntries:
		return textFormat(l.Form())
	case policy.ListEntries:
		return listFormat(l.At, l.Form())
	}
	return fileFormat(l.Form(), true)
}

func textFormat(form *ledger.Form) format {
	return format{
		read: func(_ history.File, data []byte, _ small.Limits) (*ledger.Log, []small.Problem) {
			return form.Read(data)
		},
		values: func(_ history.File, data []byte, _ small.Limits) ([]*small.Value, []small.Problem) {
			return form.Values(data), nil
		},
		openEntries: func(_ history.File, data []byte, _ small.Limits) ledger.OpenEntries { return form.OpenText(data) },
		extendable:  form.AppendsLines(),
	}
}

func listFormat(at string, form *ledger.Form) format {
	items := func(f history.File, data []byte, limits small.Limits) ([]*small.Value, []small.Problem) {
		return small.ParseItems(data, strings.HasSuffix(f.Path, ".json"), at, limits)
	}
	return format{
		read: func(f history.File, data []byte, limits small.Limits) (*ledger.Log, []small.Problem) {
			list, problems := items(f, data, limits)
			if problems != nil {
				return nil, problems
			}
			return form.LogOfItems(list), nil
		},
		values: func(f history.File, data []byte, limits small.Limits) ([]*small.Value, []small.Problem) {
			list, problems := items(f, data, limits)
			if problems != nil {
				return nil, problems
			}
			list, _ = form.FinishedItems(list)
			return list, nil
		},
		openEntries: func(f history.File, data []byte, limits small.Limits) ledger.OpenEntries {
			list, _ := items(f, data, limits)
			return form.OpenItems(list)
		},
	}
}

// fileFormat makes the format in which a file is one entry, made of its name, mode and content. In a configured log CRLF is read as LF.
func fileFormat(form *ledger.Form, configured bool) format {
	return format{
		read: func(f history.File, data []byte, _ small.Limits) (*ledger.Log, []small.Problem) {
			if !configured || f.Mode == history.ModeLink {
				data = nil
			}
			return form.LogOfFile(path.Base(f.Path), f.Mode, f.Object, data), nil
		},
		openEntries: func(f history.File, data []byte, _ small.Limits) ledger.OpenEntries {
			return form.OpenFile(path.Base(f.Path), f.Mode, f.Object, data)
		},
		fileIsEntry: true, needsText: configured,
	}
}

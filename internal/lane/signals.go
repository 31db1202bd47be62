package lane

import (
	"fmt"
	"slices"

	"github.com/small-gate/small-gate/internal/policy"
)

// Signal is one thing that a change shows about the rigour that it needs.
type Signal struct {
	// Name is stable: public-api, security, migration, contract for what makes
	// deep right; reversible-migration, api-change, submodule, files, lines,
	// untested for what fast does not allow.
	Name string
	// Fits is the lane with the least rigour that allows it.
	Fits Lane
	// Why is a sentence for people, without a final period. It may hold text of
	// files.
	Why string
	// Files are the paths that gave it, sorted.
	Files []string
}

// Untested is the name of the signal that code without tests gives.
const Untested = "untested"

// ByPath reports whether the patterns of the configuration have a say in a
// signal.
func (s *Signal) ByPath() bool {
	return s.Name != "files" && s.Name != "lines" && s.Name != "submodule"
}

// kind is a signal that single files give.
type kind struct {
	name string
	fits Lane
	why  string
	// gives reports whether a file gives it, and of what in particular.
	gives func(f *File, cfg *policy.Lanes) bool
}

// kinds lists the signals of single files, in the order in which they are told.
// Migrations and contracts bind whatever their names look like: a migration that
// adds a table of tests is one.
var kinds = []kind{
	{"migration", Deep, "a schema or stored data changes, and there may be no way back", func(f *File, cfg *policy.Lanes) bool {
		return migrates(f, cfg) && !policy.MatchPath(cfg.Reversible, f.Path)
	}},
	{"contract", Deep, "what services have agreed upon changes", func(f *File, cfg *policy.Lanes) bool {
		return policy.MatchPath(cfg.Contracts, f.Path)
	}},
	{"security", Deep, "what keeps strangers out changes", func(f *File, cfg *policy.Lanes) bool {
		return !cfg.IsTest(f.Path) && policy.MatchPath(cfg.Security, f.Path)
	}},
	{"public-api", Deep, "there is new public surface", func(f *File, cfg *policy.Lanes) bool {
		return len(f.API) > 0 && offers(f, cfg) || f.Added && inAPI(f, cfg)
	}},
	{"api-change", Standard, "a file of the public API changes", func(f *File, cfg *policy.Lanes) bool {
		return len(f.Gone) > 0 && offers(f, cfg) || !f.Added && inAPI(f, cfg)
	}},
	{"reversible-migration", Standard, "a schema or stored data changes", func(f *File, cfg *policy.Lanes) bool {
		return migrates(f, cfg) && policy.MatchPath(cfg.Reversible, f.Path)
	}},
	{"submodule", Standard, "a submodule changes, and what it brings is not looked at here", func(f *File, _ *policy.Lanes) bool {
		return f.Submodule || f.Path == ".gitmodules"
	}},
}

// offers reports whether the names of a file of Go count: there is a public API,
// and no pattern says that the file is none of it.
func offers(f *File, cfg *policy.Lanes) bool {
	return len(cfg.PublicAPI) > 0 && !policy.ExcludesPath(cfg.PublicAPI, f.Path)
}

// inAPI reports whether a file's path says that it is of the public API, where
// there is no better way to know.
func inAPI(f *File, cfg *policy.Lanes) bool {
	return !f.Looked && !cfg.IsTest(f.Path) && policy.MatchPath(cfg.PublicAPI, f.Path)
}

// migrates reports whether a file changes a schema or stored data: its path says
// so, or its statements do and no pattern says that they do not count.
func migrates(f *File, cfg *policy.Lanes) bool {
	return policy.MatchPath(cfg.Migrations, f.Path) || f.Schema && len(cfg.Migrations) > 0 && !policy.ExcludesPath(cfg.Migrations, f.Path)
}

// Signals lists what a change shows. Files that do not count are left out. tests
// knows which code has tests; nil if no code is touched.
func Signals(files []File, tests *Tests, cfg *policy.Lanes) []Signal {
	counted := slices.DeleteFunc(slices.Clone(files), func(f File) bool { return !Counts(f.Path, cfg) })
	var out []Signal
	add := func(name string, fits Lane, why string, paths []string) {
		if len(paths) == 0 {
			return
		}
		slices.Sort(paths)
		out = append(out, Signal{Name: name, Fits: fits, Why: why, Files: paths})
	}
	for _, k := range kinds {
		var paths []string
		for i := range counted {
			if f := &counted[i]; k.gives(f, cfg) {
				paths = append(paths, f.Path)
			}
		}
		add(k.name, k.fits, k.why, paths)
	}
	var all []string
	lines := 0
	for i := range counted {
		if f := &counted[i]; !f.Moved {
			all = append(all, f.Path)
			lines += f.Lines
		}
	}
	if len(all) > cfg.Files {
		add("files", Standard, fmt.Sprintf("%d files are changed; fast allows %d", len(all), cfg.Files), slices.Clone(all))
	}
	if cfg.Lines > 0 && lines > cfg.Lines {
		add("lines", Standard, fmt.Sprintf("%d lines are changed; fast allows %d", lines, cfg.Lines), slices.Clone(all))
	}
	var untested []string
	for _, f := range counted {
		if NeedsTests(f, cfg) && (tests == nil || !tests.Cover(f.Path)) {
			untested = append(untested, f.Path)
		}
	}
	add(Untested, Standard, "code changes, and no test is found for it", untested)
	return out
}

// NeedsTests reports whether tests are looked for, for a file.
func NeedsTests(f File, cfg *policy.Lanes) bool {
	return !f.OwnTests && wantsTests(&f, cfg)
}

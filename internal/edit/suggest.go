package edit

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/expression"
	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/judge/session"
	"github.com/small-gate/small-gate/internal/policy"
)

// logName matches the names of files that are often logs, logFolder those of folders.
var (
	logName = expression.Of(`(?i)^(activity|audit|audit[-_]?log|changelog|changes|decisions?|decision[-_]?log|dev[-_]?log|history|interactions|issues|` +
		`journal|learnings|lessons|news|progress|work[-_]?log)(\.(md|markdown|txt|rst|log|jsonl|ndjson|csv|tsv|yml|yaml|json))?$`)
	logFolder = expression.Of(`(?i)^(adrs?|architecture[-_]decision[-_]records?|decisions|decision[-_]records?|journal|migrate|migrations?|work[-_]?logs?)$`)
)

// maxTried bounds the paths whose history SuggestLogs judges, and maxSuggested those that it returns.
const maxTried, maxSuggested = 12, 5

// SuggestLogs returns paths of files and folders, from the root of the work tree, that [InitLog] would guard: their names are those of logs, their
// history is that of a log, and no stanza has them yet. It returns at most five, those nearest to the root.
func SuggestLogs(ctx context.Context, req session.Request) (paths []string, err error) {
	_, err = req.InRepository(ctx, "init-log", func(s *session.Session) error {
		top, err := s.Repo.Where().WorkTree()
		if err != nil {
			return err
		}
		if err := s.TrustRoot(top); err != nil {
			return err
		}
		head, err := s.Repo.Head(ctx)
		if err != nil || head == "" {
			return err
		}
		files, err := s.Repo.List(ctx, history.Index, history.Filter{All: true})
		if err != nil {
			return err
		}
		candidates := candidatesAmong(files, s.Opts.Policy)
		for _, at := range candidates[:min(len(candidates), maxTried)] {
			_, _, err := chooseStanza(ctx, s, head, ":/"+at)
			var noLog *failure.Error
			switch {
			case err == nil:
				paths = append(paths, at)
			case !errors.As(err, &noLog): // a failure says why init-log would not guard the path
				return err
			}
			if len(paths) == maxSuggested {
				break
			}
		}
		return nil
	})
	return paths, err
}

// candidatesAmong returns the files, and the folders of at least two files, whose names are those of logs, the nearest to the root first. It leaves out
// what a stanza guards, programs, and what lies in folders that are not judged by default.
func candidatesAmong(files []history.File, p *policy.Policy) (out []string) {
	inFolder := map[string]int{}
	for _, f := range files {
		if p.LogFor(f.Path) != nil || policy.Matches(policy.Default().Exclude, f.Path) {
			continue
		}
		names := strings.Split(path.Dir(f.Path), "/")
		if i := slices.IndexFunc(names, logFolder().MatchString); i >= 0 {
			inFolder[strings.Join(names[:i+1], "/")]++
		} else if logName().MatchString(path.Base(f.Path)) && f.Mode == history.ModePlain {
			out = append(out, f.Path)
		}
	}
	for folder, n := range inFolder {
		if n > 1 {
			out = append(out, folder)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
	})
	return out
}

// NoPathGiven returns the failure of init-log without a path. It names what looks like a log.
func NoPathGiven(suggested []string) error {
	remedy := "see `small-hook init-log --help`"
	if len(suggested) > 0 {
		words := "small-hook init-log"
		for _, at := range suggested {
			words += " " + wording.TopPath(at)
		}
		remedy = "name what may only grow; what looks like a log here: " + wording.Commands(words)
	}
	return &failure.Error{Message: "init-log takes paths, of files or folders", Remedy: remedy}
}

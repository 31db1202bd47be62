package look

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/read"
	"github.com/small-gate/small-gate/internal/ledger"
	"github.com/small-gate/small-gate/internal/small"
	"github.com/small-gate/small-gate/internal/small/records"
)

// events turns the events of workspaces of 2.0.0 into entries: one log for each workspace, session by session.
type events struct {
	src *read.Source
	// sessions are the files of sessions, and actors the names in those that were read, by path.
	sessions map[string]history.File
	actors   map[string]string
	found    []finding.Recorded
}

// only drops from the logs the records that are no events, and keeps the sessions among them for later.
func (v *events) only(files []history.File) []history.File {
	return slices.DeleteFunc(files, func(f history.File) bool {
		_, name, _ := small.SplitPath(f.Path)
		if records.KindOf(name) == records.Session {
			v.sessions[f.Path] = f
		}
		return v.src.IsImmutableRecord(f.Path) && records.KindOf(name) != records.Event
	})
}

// add turns an event into an entry. text is the file's. The session counts as the entry's run.
func (v *events) add(ctx context.Context, r finding.Recorded, text []byte) error {
	doc, problems := small.ParseJSON(text, v.src.Limits)
	if doc == nil {
		return &failure.Error{Message: r.Path + " cannot be read as an event: " + problems[0].Message, Remedy: problems[0].Hint}
	}
	dir, _ := small.WorkspaceOf(r.Path)
	get := func(keys ...string) string {
		at := doc.Root
		for _, key := range keys {
			if at = at.Get(key); at == nil {
				return ""
			}
		}
		return at.Text
	}
	var err error
	if r.Index, err = strconv.Atoi(get("sequence")); err != nil {
		return &failure.Error{Message: r.Path + " cannot be read as an event: its sequence is not a number", Err: err}
	}
	r.Index--
	r.Path, r.Value, r.Noun = small.InDir(dir, "events"), doc.Root, ""
	r.TaskID, r.ReplayID = get("task_id"), get("session_id")
	r.Timestamp, _, _ = strings.Cut(get("occurred_at"), "#") // a migration appends # and the entry's number
	r.Status = cmp.Or(get("payload", "status"), get("payload", "outcome"), get("kind"))
	if r.TaskID == "" {
		r.Noun = "session"
	}
	r.AgentID, err = v.actor(ctx, small.InDir(dir, "sessions/"+r.ReplayID+".json"))
	v.found = append(v.found, r)
	return err
}

// actor returns the name of a session's actor.
func (v *events) actor(ctx context.Context, session string) (string, error) {
	name, known := v.actors[session]
	if known {
		return name, nil
	}
	root, err := v.src.Document(ctx, v.sessions[session])
	if err == nil && root != nil {
		name, _ = root.Get("actor_label").Str()
	}
	v.actors[session] = name
	return name, err
}

// list returns the events in order, and the state of their logs.
func (v *events) list() (entries []finding.Recorded, logs []finding.LedgerState) {
	slices.SortStableFunc(v.found, func(a, b finding.Recorded) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.ReplayID, b.ReplayID), cmp.Compare(a.Index, b.Index))
	})
	for at := 0; at < len(v.found); {
		var digests []small.Digest
		path := v.found[at].Path
		for ; at < len(v.found) && v.found[at].Path == path; at++ {
			digests = append(digests, v.found[at].Digest)
		}
		logs = append(logs, finding.LedgerState{Path: path, Entries: len(digests), Head: ledger.HeadOf(digests)})
	}
	return v.found, logs
}

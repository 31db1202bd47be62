package entrypoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/entrypoint/session"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/wholefile"
)

// fronts are what is known about neighbours' commits, by id and path of the log.
type fronts map[string]map[string]logs.Front

// frontsSize bounds the file of fronts, in bytes.
const frontsSize = 8 << 20

// neighbours are the branches on which somebody else may be at work, and what was known about them before this comparison.
type neighbours struct {
	list []logs.Neighbour
	file string
	old  []byte
}

// neighboursOf lists other work trees first, since of two branches at the same commit the first is reported.
func neighboursOf(ctx context.Context, s *session.Session) (neighbours, error) {
	found, err := s.Repo.Neighbours(ctx)
	if err != nil || len(found) == 0 {
		return neighbours{}, err
	}
	out := neighbours{file: filepath.Join(s.Repo.Where().GitDir, "small-gate", "neighbours.json")}
	if out.old, err = wholefile.Start(out.file, frontsSize); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	var known fronts
	if json.Unmarshal(out.old, &known) != nil {
		known = nil // unreadable means unknown
	}
	var upstreams []logs.Neighbour
	for _, n := range found {
		tip := logs.Neighbour{Tip: history.Tip{ID: n.ID, Name: history.ShortRef(n.Ref)}, Worktree: n.Worktree, Fronts: map[string]logs.Front{}}
		maps.Copy(tip.Fronts, known[n.ID])
		if n.Worktree == "" {
			upstreams = append(upstreams, tip)
		} else {
			out.list = append(out.list, tip)
		}
	}
	out.list = append(out.list, upstreams...)
	return out, nil
}

// remember saves what is known about the neighbours' commits: those that do not move need no second look.
func (n neighbours) remember() error {
	now := fronts{}
	for _, neighbour := range n.list {
		maps.DeleteFunc(neighbour.Fronts, func(_ string, f logs.Front) bool { return !f.Small() })
		if len(neighbour.Fronts) > 0 {
			now[neighbour.ID] = neighbour.Fronts
		}
	}
	if len(now) == 0 {
		return nil
	}
	text, err := json.Marshal(now)
	if err != nil || bytes.Equal(text, n.old) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(n.file), 0o700); err != nil {
		return err
	}
	return wholefile.Replace(n.file, text, 0o600)
}

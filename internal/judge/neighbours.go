package judge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/small-gate/small-gate/internal/base/version"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/gate/history"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/judge/session"
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
	out := neighbours{file: filepath.Join(s.Repo.Where().GitDir, "small-gate", "neighbours")}
	if out.old, err = wholefile.Start(out.file, frontsSize); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	known := frontsOf(out.old)
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

// mark is the first line of a file of fronts: a hash of the rest and of the program's version.
func mark(text []byte) []byte {
	return fmt.Appendf(nil, "%x\n", sha256.Sum256(slices.Concat([]byte(version.String()+"\n"), text)))
}

// frontsOf reads a file of fronts; nil if another version wrote it, or if it is damaged: wrong fronts would hide what neighbours have.
func frontsOf(file []byte) fronts {
	_, text, _ := bytes.Cut(file, []byte("\n"))
	var known fronts
	if !bytes.HasPrefix(file, mark(text)) || json.Unmarshal(text, &known) != nil {
		return nil
	}
	return known
}

// remember saves what is known about the neighbours' commits: those that do not move need no second look.
func (n neighbours) remember() error {
	now := fronts{}
	for _, neighbour := range n.list {
		maps.DeleteFunc(neighbour.Fronts, func(_ string, f logs.Front) bool { return !f.SmallEnough() })
		if len(neighbour.Fronts) > 0 {
			now[neighbour.ID] = neighbour.Fronts
		}
	}
	if len(now) == 0 {
		return nil
	}
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if text = append(mark(text), text...); bytes.Equal(text, n.old) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(n.file), 0o700); err != nil {
		return err
	}
	return wholefile.Replace(n.file, text, 0o600)
}

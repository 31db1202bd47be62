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

// fronts hold the [logs.Front] of each neighbour's log, by the neighbour's commit and the log's path: how that log differed from the index's.
type fronts map[string]map[string]logs.Front

// maxFrontsFile is how much of the file of fronts is read, in bytes.
const maxFrontsFile = 8 << 20

// neighbours are the branches on which somebody else may be at work: the upstream branch, and the branches of other work trees.
type neighbours struct {
	list []logs.Neighbour
	// frontsFile is the path of the file of fronts, and oldFronts its content before this judgement.
	frontsFile string
	oldFronts  []byte
}

// listNeighbours lists the neighbours, with their saved fronts. Other work trees come before the upstream branch, because of two branches at the
// same commit only the first is reported.
func listNeighbours(ctx context.Context, s *session.Session) (neighbours, error) {
	found, err := s.Repo.Neighbours(ctx)
	if err != nil || len(found) == 0 {
		return neighbours{}, err
	}
	out := neighbours{frontsFile: filepath.Join(s.Repo.Where().GitDir, "small-gate", "neighbours")}
	if out.oldFronts, err = wholefile.Start(out.frontsFile, maxFrontsFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	known := parseFronts(out.oldFronts)
	var upstreams []logs.Neighbour
	for _, n := range found {
		neighbour := logs.Neighbour{Tip: history.Tip{ID: n.ID, Name: history.ShortRef(n.Ref)}, Worktree: n.Worktree, Fronts: map[string]logs.Front{}}
		maps.Copy(neighbour.Fronts, known[n.ID])
		if n.Worktree == "" {
			upstreams = append(upstreams, neighbour)
		} else {
			out.list = append(out.list, neighbour)
		}
	}
	out.list = append(out.list, upstreams...)
	return out, nil
}

// checksumLine makes the first line of a file of fronts: a hash of the program's version and of the other lines.
func checksumLine(text []byte) []byte {
	return fmt.Appendf(nil, "%x\n", sha256.Sum256(slices.Concat([]byte(version.String()+"\n"), text)))
}

// parseFronts parses a file of fronts; nil if another version of the program wrote it, or if it is damaged: wrong fronts would hide entries of
// neighbours.
func parseFronts(file []byte) fronts {
	_, text, _ := bytes.Cut(file, []byte("\n"))
	var known fronts
	if !bytes.HasPrefix(file, checksumLine(text)) || json.Unmarshal(text, &known) != nil {
		return nil
	}
	return known
}

// saveFronts saves the neighbours' fronts, so that the logs of a neighbour that has not moved need not be read again.
func (n neighbours) saveFronts() error {
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
	if text = append(checksumLine(text), text...); bytes.Equal(text, n.oldFronts) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(n.frontsFile), 0o700); err != nil {
		return err
	}
	return wholefile.Replace(n.frontsFile, text, 0o600)
}

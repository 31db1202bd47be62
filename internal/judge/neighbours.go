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

// differences say how each neighbour's log differed from the index's log, by the neighbour's commit and the log's path. They are saved in a
// file: a neighbour's log need not be read again until the neighbour's branch moves.
type differences map[string]map[string]logs.Front

// maxDifferencesFile is how much of the file of differences is read, in bytes.
const maxDifferencesFile = 8 << 20

// neighbours are the branches on which somebody else may be at work: the upstream branch, and the branches of other work trees.
type neighbours struct {
	list []logs.Neighbour
	// file is the path of the file of differences; oldContent is what the file held before this judgement.
	file       string
	oldContent []byte
}

// listNeighbours lists the neighbours, with their saved differences. The branches of other work trees come before the upstream branch: if two branches
// are at the same commit, only the first is reported.
func listNeighbours(ctx context.Context, s *session.Session) (neighbours, error) {
	found, err := s.Repo.Neighbours(ctx)
	if err != nil || len(found) == 0 {
		return neighbours{}, err
	}
	out := neighbours{file: filepath.Join(s.Repo.Where().GitDir, "small-gate", "neighbours")}
	if out.oldContent, err = wholefile.Start(out.file, maxDifferencesFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	saved := parseDifferences(out.oldContent)
	var upstreams []logs.Neighbour
	for _, n := range found {
		neighbour := logs.Neighbour{Tip: history.Tip{ID: n.ID, Name: history.ShortRef(n.Ref)}, Worktree: n.Worktree, Fronts: map[string]logs.Front{}}
		maps.Copy(neighbour.Fronts, saved[n.ID])
		if n.Worktree == "" {
			upstreams = append(upstreams, neighbour)
		} else {
			out.list = append(out.list, neighbour)
		}
	}
	out.list = append(out.list, upstreams...)
	return out, nil
}

// checksumLine returns the first line of a file of differences: a hash of the program's version and of text, the other lines.
func checksumLine(text []byte) []byte {
	return fmt.Appendf(nil, "%x\n", sha256.Sum256(slices.Concat([]byte(version.String()+"\n"), text)))
}

// parseDifferences parses a file of differences. It returns nil if another version of the program wrote the file, or if the file is damaged: wrong
// differences would hide entries of neighbours.
func parseDifferences(content []byte) differences {
	_, text, _ := bytes.Cut(content, []byte("\n"))
	var saved differences
	if !bytes.HasPrefix(content, checksumLine(text)) || json.Unmarshal(text, &saved) != nil {
		return nil
	}
	return saved
}

// saveDifferences writes the file of differences, unless there are none or the file already holds them.
func (n neighbours) saveDifferences() error {
	now := differences{}
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
	if text = append(checksumLine(text), text...); bytes.Equal(text, n.oldContent) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(n.file), 0o700); err != nil {
		return err
	}
	return wholefile.Replace(n.file, text, 0o600)
}

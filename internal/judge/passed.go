package judge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/version"
	"github.com/small-gate/small-gate/internal/gate/logs"
	"github.com/small-gate/small-gate/internal/judge/session"
)

// passKey identifies a judgement of the index. If the index passes, the key is saved, so that the next hook for the same commit need not judge the index
// again.
type passKey struct {
	// file is the path of the file in which the last saved key is. key is a hash of all that the judgement depends on.
	file, key string
}

// computePassKey computes the key of the judgement that compares the index with parents and neighbours. The key does not depend on what guarded writers
// noted about the work tree: each hook reads these notes again.
func computePassKey(ctx context.Context, s *session.Session, parents []string, neighbours []logs.Neighbour) (passKey, error) {
	// The key depends on all files: rules also read files that the commit does not change.
	files, err := s.Repo.ListIndex(ctx)
	if err != nil {
		return passKey{}, err
	}
	req := s.Req
	req.Dir, req.Reader, req.Now, req.Progress, req.Find = "", "", time.Time{}, nil, nil
	req.Environ = slices.DeleteFunc(slices.Clone(req.Environ), func(v string) bool {
		return strings.HasPrefix(v, gitPIDVariable+"=") || !strings.HasPrefix(v, "SMALL_") && !strings.HasPrefix(v, "GIT_AUTHOR_NAME=") && !strings.HasPrefix(v, "GIT_AUTHOR_EMAIL=")
	})
	slices.Sort(req.Environ)
	neighbours = slices.Clone(neighbours)
	for i := range neighbours {
		neighbours[i].Fronts = nil // the neighbours' commits and the index determine the fronts
	}
	parents = slices.Concat(s.Opts.Heads, parents)
	slices.Sort(parents[min(1, len(parents)):]) // MERGE_HEAD and git's variables list them in different orders
	key := sha256.New()
	_, err = fmt.Fprintf(key, "%q\n%q\n%#v\n%q\n%#v\n%q\n%#v\n%q\n%t\n%q\n%q\n%x\n", version.String(), s.Opts.Now.UTC().Format(time.DateOnly), req,
		parents, neighbours, s.Opts.Branch, s.Opts.BranchClaim, s.Opts.Message, s.Opts.Replay, s.TrustedText, s.FloorText(), s.Opts.Policy.SchemaDigests())
	var line []byte
	for _, f := range files {
		line = fmt.Append(line[:0], f.Path, "\x00", f.Mode, f.Object, f.Unmerged)
		key.Write(line) // a hash never fails
	}
	name := "passed"
	if s.FloorText() != nil {
		name = "passed-floor"
	}
	return passKey{filepath.Join(s.Repo.Where().GitDir, "small-gate", name), hex.EncodeToString(key.Sum(nil))}, err
}

// wasSaved reports whether the saved key equals p's key: then the index has already passed this judgement.
func (p passKey) wasSaved() (bool, error) {
	last, err := os.ReadFile(p.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, &failure.Error{Message: "cannot read the note about the last index that passed: " + err.Error(), Remedy: "make the git directory readable", Err: err}
	}
	return string(last) == p.key, nil
}

// save writes the key for the next hook.
func (p passKey) save() error {
	err := os.MkdirAll(filepath.Dir(p.file), 0o777)
	if err == nil {
		err = os.WriteFile(p.file, []byte(p.key), 0o666) // a partial write matches no key
	}
	if err != nil {
		return &failure.Error{Message: "cannot note that the index has passed: " + err.Error(), Remedy: "make room in the git directory, and make it writable", Err: err}
	}
	return nil
}

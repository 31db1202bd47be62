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

// passKey identifies a judgement of the index: a hash of all that it depends on. It is saved if the judgement passes, so that the next hook
// that git runs for the same commit need not judge again.
type passKey struct {
	// file holds the key of the last judgement that passed.
	file, key string
}

// passKeyFor is the key for the index after parents, beside neighbours. It leaves out what guarded writers noted about the work tree, since each
// hook compares that anew.
func passKeyFor(ctx context.Context, s *session.Session, parents []string, neighbours []logs.Neighbour) (passKey, error) {
	// Rules read further files than those that change.
	files, err := s.Repo.HoldIndex(ctx)
	if err != nil {
		return passKey{}, err
	}
	asked := s.Req
	asked.Dir, asked.Reader, asked.Now, asked.Progress, asked.Find = "", "", time.Time{}, nil, nil
	asked.Environ = slices.DeleteFunc(slices.Clone(asked.Environ), func(v string) bool {
		return strings.HasPrefix(v, commitVariable+"=") || !strings.HasPrefix(v, "SMALL_") && !strings.HasPrefix(v, "GIT_AUTHOR_NAME=") && !strings.HasPrefix(v, "GIT_AUTHOR_EMAIL=")
	})
	slices.Sort(asked.Environ)
	neighbours = slices.Clone(neighbours)
	for i := range neighbours {
		neighbours[i].Fronts = nil // they follow from the rest
	}
	parents = slices.Concat(s.Opts.Heads, parents)
	slices.Sort(parents[min(1, len(parents)):]) // MERGE_HEAD and git's variables differ in order
	key := sha256.New()
	_, err = fmt.Fprintf(key, "%q\n%q\n%#v\n%q\n%#v\n%q\n%#v\n%q\n%t\n%q\n%q\n%x\n", version.String(), s.Opts.Now.UTC().Format(time.DateOnly), asked,
		parents, neighbours, s.Opts.Branch, s.Opts.BranchClaim, s.Opts.Message, s.Opts.Replay, s.TrustedText, s.Floor(), s.Opts.Policy.SchemaDigests())
	var line []byte
	for _, f := range files {
		line = fmt.Append(line[:0], f.Path, "\x00", f.Mode, f.Object, f.Unmerged)
		key.Write(line) // which never fails
	}
	name := "passed"
	if s.Floor() != nil {
		name = "passed-floor"
	}
	return passKey{filepath.Join(s.Repo.Where().GitDir, "small-gate", name), hex.EncodeToString(key.Sum(nil))}, err
}

// wasSaved reports whether this is the remembered pass.
func (p passKey) wasSaved() (bool, error) {
	last, err := os.ReadFile(p.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, &failure.Error{Message: "cannot read what has passed: " + err.Error(), Remedy: "make the git directory readable", Err: err}
	}
	return string(last) == p.key, nil
}

// save saves the pass for the next hook.
func (p passKey) save() error {
	err := os.MkdirAll(filepath.Dir(p.file), 0o777)
	if err == nil {
		err = os.WriteFile(p.file, []byte(p.key), 0o666) // a partial write matches no key
	}
	if err != nil {
		return &failure.Error{Message: "cannot note what has passed: " + err.Error(), Remedy: "make room in the git directory, and make it writable", Err: err}
	}
	return nil
}

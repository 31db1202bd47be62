package githistory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
	gitcmd "github.com/small-gate/small-gate/internal/git/run"
)

// rawArgs make git's diff commands print what readChanges reads, whatever is configured. They include submodules explicitly, because a
// .gitmodules file can make git ignore them.
var rawArgs = []string{"--raw", "-z", "--no-abbrev", "--no-renames", "--no-relative", "--ignore-submodules=none"}

// absentMode is the mode that git prints for a path on the side where it is absent.
const absentMode = "000000"

// gitWithoutIndex returns a git that finds no index. diff-tree would otherwise read the index first, even to compare two trees.
func (r *Repo) gitWithoutIndex() gitcmd.Git {
	git := r.git
	git.Environ = slices.Concat(git.Environ, []string{"GIT_INDEX_FILE=" + filepath.Join(r.GitDir, "small-gate", "no-index")})
	return git
}

// rawDiff runs one of git's diff commands with rawArgs and reads the changes that it prints.
func (r *Repo) rawDiff(ctx context.Context, git gitcmd.Git, pathspecs []string, command string, args ...string) ([]history.Change, error) {
	var changes []history.Change
	err := git.Stream(ctx, nil, func(out *bufio.Reader) (err error) {
		if changes, err = r.readChanges(out); err != nil {
			return err
		}
		return requireEnd(out)
	}, slices.Concat([]string{command}, rawArgs, args, []string{"--"}, pathspecs)...)
	return changes, err
}

// readHeader reads the header that git prints before the changes of one comparison. It fails unless the header is the commit want.
func readHeader(out *bufio.Reader, want string) error {
	got, err := out.ReadString(0)
	if err != nil {
		return unexpectedEOF(err)
	}
	if got[:len(got)-1] != want {
		return fmt.Errorf("git diff-tree printed %q instead of %q", wording.Printable(got), want)
	}
	return nil
}

// readChanges reads records of git's raw format until the output ends or something else begins:
//
//	:100644 100755 <old id> <new id> M NUL path NUL
//
// An unmerged path of the index has the status U. git's other records for the same path are dropped.
func (r *Repo) readChanges(out *bufio.Reader) ([]history.Change, error) {
	var changes []history.Change
	for {
		next, err := out.Peek(1)
		if errors.Is(err, io.EOF) || (err == nil && next[0] != ':') {
			return changes, nil
		}
		if err != nil {
			return nil, err
		}
		change, err := r.readChange(out)
		if err != nil {
			return nil, err
		}
		if n := len(changes) - 1; n >= 0 && changes[n].Path == change.Path && (changes[n].New.Unmerged || change.New.Unmerged) {
			if change.New.Unmerged {
				changes[n].New = change.New
			}
			continue
		}
		changes = append(changes, change)
	}
}

func (r *Repo) readChange(out *bufio.Reader) (history.Change, error) {
	head, err := out.ReadString(0)
	if err != nil {
		return history.Change{}, unexpectedEOF(err)
	}
	path, err := out.ReadString(0)
	if err != nil {
		return history.Change{}, unexpectedEOF(err)
	}
	path = path[:len(path)-1]
	f := strings.Split(strings.TrimSuffix(strings.TrimPrefix(head, ":"), "\x00"), " ")
	if len(f) != 5 || path == "" || f[4] == "" {
		return history.Change{}, fmt.Errorf("git printed a change of an unknown form: %q", wording.Printable(head))
	}
	oldFile, oldErr := r.makeFile(path, f[0], f[2])
	newFile, newErr := r.makeFile(path, f[1], f[3])
	if err := errors.Join(oldErr, newErr); err != nil {
		return history.Change{}, err
	}
	if f[4] == "U" {
		newFile = history.File{Path: path, Unmerged: true}
	}
	return history.Change{Path: path, Old: oldFile, New: newFile}, nil
}

// makeFile makes one side of a change. It returns the zero File if the path is absent there.
func (r *Repo) makeFile(path, mode, id string) (history.File, error) {
	if mode == absentMode {
		return history.File{}, nil
	}
	if len(mode) != len(absentMode) {
		return history.File{}, fmt.Errorf("git printed the mode %q for %q", wording.Printable(mode), wording.Printable(path))
	}
	if err := r.format.Check(id); err != nil {
		return history.File{}, err
	}
	return history.File{Path: path, Mode: mode, Object: id}, nil
}

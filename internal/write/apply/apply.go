// Package apply changes the files of a work tree, the index and the branch.
package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/base/wholefile"
	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/history"
)

// Place is where files are changed.
type Place struct {
	// Top is the root of the work tree.
	Top string
	// Kept is the directory, below the common git directory, for copies of overwritten files and for files that are being written.
	Kept string
	// Again is the command to repeat after a failure, for messages.
	Again string
}

// Git runs git in the work tree.
type Git interface {
	// Stage puts files into the index, all or none.
	Stage(ctx context.Context, files []history.File) error
	// Run runs git, and returns what it printed.
	Run(ctx context.Context, args ...string) ([]byte, error)
}

// File says how the file at a path is changed.
type File struct {
	// File is put into the index, unless it has no object.
	history.File
	// Content is written to the work tree; if it is nil, nothing is written.
	Content []byte
	// Over is the content that Content replaces. A copy of it is kept; nil if git has it already.
	Over []byte
	// Removed removes the file from the work tree.
	Removed bool
	// ByGit makes git check out the staged file, as for a symbolic link or an executable file.
	ByGit bool
}

// Move takes a ref from one commit to another.
type Move struct {
	Ref, From, To string
	// Reason is for the reflog.
	Reason string
	// Trees makes git also bring the index and the work tree from one commit to the other (git-read-tree(1), two trees).
	Trees bool
}

// Do changes files and a ref, in this order: it keeps copies of overwritten files, writes the files, changes the index, and moves the ref. It
// cannot be interrupted. If the process is killed in between, nothing is lost, and the same command does the rest. kept maps paths to the copies.
func (p Place) Do(ctx context.Context, git Git, files []File, move *Move) (kept map[string]string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	kept = map[string]string{}
	var staged []history.File
	var byGit []string
	for _, f := range files {
		if f.Over != nil {
			if kept[f.Path], err = p.Keep(f.Path, f.Over); err != nil {
				return nil, err
			}
		}
		if f.Object != "" {
			staged = append(staged, f.File)
		}
		if f.ByGit {
			byGit = append(byGit, f.Path)
		}
	}
	for _, f := range files {
		switch {
		case f.Removed:
			err = p.Remove(f.Path)
		case f.Content != nil:
			err = p.Write(f.Path, f.Content)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(staged) > 0 {
		err = git.Stage(ctx, staged)
	}
	if err == nil && len(byGit) > 0 {
		_, err = git.Run(ctx, append([]string{"checkout-index", "-f", "-q", "--"}, byGit...)...)
	}
	if err == nil && move != nil && move.Trees {
		_, err = git.Run(ctx, "read-tree", "-m", "-u", move.From, move.To)
	}
	if err == nil && move != nil {
		_, err = git.Run(ctx, "update-ref", "-m", move.Reason, move.Ref, move.To, move.From)
	}
	return kept, err
}

// file returns the name of the file at a path relative to the root.
func (p Place) file(path string) string { return filepath.Join(p.Top, filepath.FromSlash(path)) }

// Write replaces the file at a path in one step.
func (p Place) Write(path string, content []byte) error {
	file := p.file(path)
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = wholefile.WriteVia(p.Kept, file, content)
	}
	if err != nil {
		return &failure.Error{Message: fmt.Sprintf("cannot write %s: %v", wording.Printable(path), err), Remedy: "make the file writable, then " + p.Again, Err: err}
	}
	return nil
}

// Remove removes the file at a path. There may be none.
func (p Place) Remove(path string) error {
	if err := os.Remove(p.file(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &failure.Error{Message: fmt.Sprintf("cannot remove %s: %v", wording.Printable(path), err), Remedy: "remove it, then " + p.Again, Err: err}
	}
	return nil
}

// Keep writes a copy of a file's content, and returns the name of the copy. The same content has the same name, so that repeating the command makes
// no second copy.
func (p Place) Keep(at string, content []byte) (string, error) {
	sum := sha256.Sum256(content)
	name, ending, _ := strings.Cut(wholefile.Shorten(path.Base(at)), ".")
	if name = name + "-" + hex.EncodeToString(sum[:8]); ending != "" {
		name += "." + ending
	}
	name = filepath.Join(p.Kept, name)
	err := os.MkdirAll(p.Kept, 0o700)
	if err == nil {
		err = wholefile.Replace(name, content, 0o600)
	}
	if err != nil {
		return "", &failure.Error{
			Message: fmt.Sprintf("cannot keep the present %s, so it was left as it is: %v", wording.Printable(at), err),
			Remedy:  "make room in the git directory, then " + p.Again, Err: err,
		}
	}
	return name, nil
}

package publish

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/githistory"
	"github.com/small-gate/small-gate/internal/wholefile"
	"github.com/small-gate/small-gate/internal/wording"
)

// state is what a sync writes down before it moves anything.
type state struct {
	// Branch is the full name of the branch, Tip the commit where it was.
	Branch, Tip string
	// Remote and Target say where it is to be pushed: the remote's name, and the full name of the branch there.
	Remote, Target string
	// Merge is true if nothing may be rebased.
	Merge bool
	// Stopped is true while a person is asked to resolve something. If it is not, whatever is found half done was killed.
	Stopped bool
	// Pushing is the commit that was last about to be pushed; empty before that, and once the remote is known not to have it. Pushed is
	// true once the remote is known to have it.
	Pushing string
	Pushed  bool
	// Aside is the commit that keeps the uncommitted changes below .small; empty if there were none.
	Aside string
	// Left is a commit of the work tree where it stopped, and LeftAt how far git had come. Meanwhile are commits of what was written
	// after a stop, each upon its Left.
	Left, LeftAt string
	Meanwhile    []string
	// Conflicts are the files that somebody was asked to resolve.
	Conflicts []string
}

const (
	ownDir    = "small-gate"
	stateFile = "sync.json"
	lockFile  = "sync.lock"
	// asideRef keeps state.Aside from git's garbage collection, and lets a person look at it. Each work tree has its own.
	asideRef = "refs/worktree/small-gate/sync-aside"
	// leftRef does so for state.Left and state.Meanwhile.
	leftRef = "refs/worktree/small-gate/sync-left"
)

// lock keeps a second sync out of a work tree. The kernel frees it when the process ends, however it ends.
func (p *publishing) lock() (unlock func() error, err error) {
	dir := filepath.Join(p.git.gitDir, ownDir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, &failure.Error{Message: "cannot write in the git directory: " + err.Error(), Err: err}
	}
	held := flock.New(filepath.Join(dir, lockFile))
	locked, err := held.TryLock()
	if err != nil {
		return nil, &failure.Error{Message: "cannot lock " + held.Path() + ": " + err.Error(), Err: err}
	}
	if !locked {
		return nil, &failure.Error{Message: "another small-hook sync is at work in this work tree", Remedy: "wait until it has ended"}
	}
	return held.Unlock, nil
}

func (p *publishing) statePath() string { return statePath(p.git.gitDir) }

func statePath(gitDir string) string { return filepath.Join(gitDir, ownDir, stateFile) }

// Begun reports whether a sync of the work tree has begun and not ended: it has stopped for a person, is at work, or was killed.
func Begun(place githistory.Place) (bool, error) {
	_, err := os.Lstat(statePath(place.GitDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, &failure.Error{Message: "cannot look for a sync that was interrupted: " + err.Error(), Err: err}
	}
	return err == nil, nil
}

// load reads what an earlier sync has written down; false if there is nothing.
func (p *publishing) load(ctx context.Context) (bool, error) {
	data, err := os.ReadFile(p.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &failure.Error{
			Message: "cannot read what an interrupted sync has written down: " + err.Error(), Remedy: "make the git directory readable", Err: err,
		}
	}
	if err := json.Unmarshal(data, &p.state); err != nil {
		return false, p.damaged(ctx, err)
	}
	p.noted = true
	return true, nil
}

// damaged is the failure of a state that cannot be read. What git has of that sync is put right by hand.
func (p *publishing) damaged(ctx context.Context, cause error) error {
	f := &failure.Error{Message: "what an interrupted sync has written down is damaged: " + cause.Error(), Err: cause}
	command, err := p.git.underWay()
	if err != nil {
		return errors.Join(f, err)
	}
	if command != "" {
		f.Remedy = "take back what git has not finished: `git " + command + " --abort`; "
	}
	aside, err := p.git.id(ctx, asideRef)
	if err != nil {
		return errors.Join(f, err)
	}
	if aside != "" {
		f.Remedy += "put back the uncommitted changes that were set aside: `git stash apply " + aside + "`; "
	}
	f.Remedy += "have it forgotten: `rm -- " + wording.ShellWord(p.statePath()) + "`; then `small-hook sync`"
	return f
}

// note writes the state down.
func (p *publishing) note() error {
	data, err := json.Marshal(p.state)
	if err == nil {
		err = wholefile.Write(p.statePath(), append(data, '\n'))
	}
	if err != nil {
		return &failure.Error{Message: "cannot write down where the branch was: " + err.Error(), Err: err}
	}
	p.noted = true
	return nil
}

// forget ends a sync: nothing is left to take back. What was set aside is in the work tree again, and so is now what was recorded
// meanwhile.
func (p *publishing) forget(ctx context.Context) error {
	if !p.noted {
		return nil
	}
	if err := p.bringMeanwhile(ctx); err != nil {
		return err
	}
	if err := os.Remove(p.statePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &failure.Error{Message: "cannot remove " + p.statePath() + ": " + err.Error(), Err: err}
	}
	p.noted = false
	for ref, commit := range map[string]*string{asideRef: &p.state.Aside, leftRef: &p.state.Left} {
		if *commit == "" {
			continue
		}
		if _, err := p.git.run(ctx, "update-ref", "-d", ref); err != nil {
			return err
		}
		*commit = ""
	}
	return nil
}

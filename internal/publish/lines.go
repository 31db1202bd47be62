package publish

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
	"github.com/small-gate/small-gate/internal/gitcmd"
	"github.com/small-gate/small-gate/internal/wholefile"
)

const (
	attributesFile = "attributes"
	// workspaceFiles is the pattern of the files that git must not merge line by line, and driver what merges them instead.
	workspaceFiles = "**/.small/*.small.yml"
	driver         = "small-gate"
	// driverCommand leaves every such file in conflict, also where all lines fit: reconcile resolves it.
	driverCommand = "git merge-file -q --marker-size=%L -L ours -L base -L theirs %A %O %B; exit 1"
	// keepMessages has git keep a line of a commit's message that begins with #, and drop its own list of conflicts.
	keepMessages = "commit.cleanup=scissors"
)

// bring runs a git command that merges, or goes on with merging. Where it would merge a file of a workspace line by line, there is a
// conflict.
func (p *publishing) bring(ctx context.Context, args ...string) (result, error) {
	file, err := p.attributes(ctx)
	if err != nil {
		return result{}, err
	}
	return p.git.hooked(ctx, append([]string{"-c", keepMessages, "-c", "core.attributesFile=" + file, "-c", "merge." + driver + ".driver=" + driverCommand}, args...)...)
}

// attributes writes the attributes that git is to take in place of the user's own: those, and ours.
func (p *publishing) attributes(ctx context.Context) (string, error) {
	file := filepath.Join(p.git.gitDir, ownDir, attributesFile)
	users, err := p.usersAttributes(ctx)
	if err == nil {
		err = wholefile.Write(file, append(users, "\n"+workspaceFiles+" merge="+driver+"\n"...))
	}
	if err != nil {
		return "", &failure.Error{Message: "cannot set up how git is to merge: " + err.Error(), Err: err}
	}
	return file, nil
}

// usersAttributes is the file of attributes for all of the user's repositories; nil if there is none.
func (p *publishing) usersAttributes(ctx context.Context) ([]byte, error) {
	done, err := p.git.ask(ctx, "config", "--type=path", "--get", "core.attributesFile")
	if err != nil {
		return nil, err
	}
	file := trimmed(done.out)
	if done.status == 1 {
		environ := gitcmd.Environ(p.git.environ)
		dir, home := environ.Get("XDG_CONFIG_HOME"), environ.Get("HOME")
		if dir == "" && home == "" {
			return nil, nil
		}
		if dir == "" {
			dir = filepath.Join(home, ".config")
		}
		file = filepath.Join(dir, "git", "attributes")
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(p.git.top, file)
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// mergedByLines reports whether the repository's own attributes have git merge files of workspaces without a conflict, which we cannot
// override.
func (p *publishing) mergedByLines(ctx context.Context) (bool, error) {
	paths, err := p.git.paths(ctx, "ls-files", "-z", "--", ":(top,glob)"+workspaceFiles)
	if err != nil || len(paths) == 0 {
		return false, err
	}
	done, err := p.bring(ctx, append([]string{"check-attr", "-z", "merge", "--"}, paths...)...)
	if err != nil {
		return false, err
	}
	if done.status != 0 {
		return false, p.git.failed([]string{"check-attr"}, done)
	}
	fields := strings.Split(strings.TrimSuffix(done.out, "\x00"), "\x00") // path, attribute, value
	for value := range slices.Chunk(fields, 3) {
		if last := value[len(value)-1]; last != driver && last != "unset" {
			return true, nil
		}
	}
	return false, nil
}

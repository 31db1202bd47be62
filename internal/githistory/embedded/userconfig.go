package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	raw "github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/small-gate/small-gate/internal/githistory"
)

// maxIncludes bounds how deep files of configuration may include others; git's
// own limit.
const maxIncludes = 10

// configuredBranch is init.defaultBranch, as the system's, the user's and the
// repository's configuration and the environment say it; the last word counts.
func (r *Repo) configuredBranch() (string, error) {
	s := &setting{repo: r}
	w := &configWalk{repo: r, take: s.take}
	for _, name := range r.configFiles() {
		if err := w.file(name, 0, false); err != nil {
			return "", cannot("cannot read init.defaultBranch", err)
		}
	}
	if err := s.environment(); err != nil {
		return "", cannot("cannot read init.defaultBranch", err)
	}
	return s.value, nil
}

// configFiles are the files of configuration that git reads, in its order
// (git-config(1), FILES).
func (r *Repo) configFiles() []string {
	var files []string
	switch named, set := r.env.lookup("GIT_CONFIG_SYSTEM"); {
	case r.env.on("GIT_CONFIG_NOSYSTEM"):
	case set:
		files = append(files, named)
	default:
		files = append(files, "/etc/gitconfig")
	}
	home := r.env.get("HOME")
	if named, set := r.env.lookup("GIT_CONFIG_GLOBAL"); set {
		files = append(files, named)
	} else {
		base := r.env.get("XDG_CONFIG_HOME")
		if base == "" && home != "" {
			base = filepath.Join(home, ".config")
		}
		if base != "" {
			files = append(files, filepath.Join(base, "git", "config"))
		}
		if home != "" {
			files = append(files, filepath.Join(home, ".gitconfig"))
		}
	}
	files = append(files, filepath.Join(r.CommonDir, "config"))
	return append(files, filepath.Join(r.GitDir, "config.worktree"))
}

// configWalk hands out files of configuration, and those that they include.
type configWalk struct {
	repo *Repo
	// take takes one file in. A file that is included on a condition must not
	// say anything of what is looked for: conditions are not understood here.
	take func(config *raw.Config, name string, conditional bool) error
	// ordered says that the same holds of every file that is included: whether
	// it comes before or after what stands around it is not understood either.
	ordered bool
}

// file reads one file and those that it includes.
func (w *configWalk) file(name string, depth int, conditional bool) error {
	if depth > maxIncludes {
		return fmt.Errorf("%s is included too deeply", githistory.Printable(name))
	}
	if name == "" {
		return nil
	}
	config, err := decodeConfig(name)
	if errors.Is(err, os.ErrPermission) && depth == 0 {
		return nil // as git does
	}
	if err != nil {
		return err
	}
	for _, option := range config.Section("include").Options {
		if err := w.included(option, name, depth, conditional); err != nil {
			return err
		}
	}
	for _, condition := range config.Section("includeIf").Subsections {
		for _, option := range condition.Options {
			if err := w.included(option, name, depth, true); err != nil {
				return err
			}
		}
	}
	return w.take(config, name, conditional || w.ordered && depth > 0)
}

// included reads a file that another includes.
func (w *configWalk) included(option *raw.Option, from string, depth int, conditional bool) error {
	if !option.IsKey("path") {
		return nil
	}
	path := option.Value
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(w.repo.env.get("HOME"), rest)
	} else if !plain(path) || strings.HasPrefix(path, "~") || strings.HasPrefix(path, "%(prefix)") {
		return fmt.Errorf("%s includes %s", githistory.Printable(from), githistory.Printable(path))
	}
	return w.file(within(filepath.Dir(from), path), depth+1, conditional)
}

// setting gathers init.defaultBranch.
type setting struct {
	repo  *Repo
	value string
}

func (s *setting) take(config *raw.Config, name string, conditional bool) error {
	text, set := lookUp(config, "init", "defaultbranch")
	switch {
	case !set:
	case !plain(text):
		return fmt.Errorf("init.defaultBranch is %q in %s", text, githistory.Printable(name))
	case conditional:
		return fmt.Errorf("%s sets init.defaultBranch and is included on a condition", githistory.Printable(name))
	default:
		s.value = text
	}
	return nil
}

// environment reads what the caller sets by variables (git-config(1),
// ENVIRONMENT). What git -c sets is written in another way.
func (s *setting) environment() error {
	const key = "init.defaultbranch"
	env := s.repo.env
	if strings.Contains(strings.ToLower(env.get("GIT_CONFIG_PARAMETERS")), key) {
		return errors.New("init.defaultBranch is set by git -c")
	}
	count := env.get("GIT_CONFIG_COUNT")
	if count == "" {
		return nil
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		return fmt.Errorf("GIT_CONFIG_COUNT is %q", count)
	}
	for i := range n {
		if strings.EqualFold(env.get("GIT_CONFIG_KEY_"+strconv.Itoa(i)), key) {
			s.value = env.get("GIT_CONFIG_VALUE_" + strconv.Itoa(i))
		}
	}
	return nil
}

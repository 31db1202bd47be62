package gittest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Head is the commit checked out in dir or above, "" on a branch without commits. It runs no git, and does not support a reftable
// repository.
func Head(dir string) (string, error) {
	gitDir, err := findGitDir(dir)
	if err != nil {
		return "", err
	}
	head, err := os.ReadFile(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return "", err
	}
	name, symbolic := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if !symbolic {
		return name, nil
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(common, "reftable")); err == nil {
		return "", fmt.Errorf("%s has a reftable, which only git reads", common)
	}
	id, err := os.ReadFile(filepath.Join(common, filepath.FromSlash(name)))
	if err == nil {
		return strings.TrimSpace(string(id)), nil
	}
	if !os.IsNotExist(err) {
		return "", err
	}
	return packedRef(common, name)
}

// findGitDir is the git directory of the repository that dir is in.
func findGitDir(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		dotGit := filepath.Join(at, ".git")
		if _, err := os.Stat(filepath.Join(dotGit, "HEAD")); err == nil {
			return dotGit, nil
		}
		if data, err := os.ReadFile(dotGit); err == nil {
			to := strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir: "))
			return from(at, to), nil
		}
		if _, err := os.Stat(filepath.Join(at, "objects")); err == nil {
			return at, nil // bare
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is in no repository", dir)
		}
	}
}

// commonDir has a git directory's branches; it differs in a linked work tree.
func commonDir(gitDir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	if os.IsNotExist(err) {
		return gitDir, nil
	}
	return from(gitDir, strings.TrimSpace(string(data))), err
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func packedRef(common, name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(common, "packed-refs"))
	if err != nil && !os.IsNotExist(err) {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		if id, ref, _ := strings.Cut(strings.TrimSpace(line), " "); ref == name {
			return id, nil
		}
	}
	return "", nil
}

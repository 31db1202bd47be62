package gittest

import (
	"os"
	"path/filepath"
	"sync"
)

// GlobalConfig is git's global configuration in tests: it only turns off the check, after each commit and each push, whether to repack.
func GlobalConfig() (string, error) {
	return globalConfig()
}

var globalConfig = sync.OnceValues(func() (string, error) {
	if !held.suite {
		return os.DevNull, nil
	}
	dir, err := HeldDir()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "gitconfig")
	return file, os.WriteFile(file, []byte("[maintenance]\n\tauto = false\n[receive]\n\tautogc = false\n"), 0o644)
})

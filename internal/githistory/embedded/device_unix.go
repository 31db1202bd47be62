//go:build unix

package embedded

import (
	"os"
	"syscall"
)

// deviceOf tells file systems apart: git does not walk up into another one.
func deviceOf(dir string) (uint64, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev), nil //nolint:unconvert // the type differs by system
	}
	return 0, nil
}

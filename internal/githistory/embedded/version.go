package embedded

import (
	"runtime/debug"
	"strings"
)

// libraryVersion is go-git's version as it was built into the program.
func libraryVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/go-git/go-git/v5" {
			return strings.TrimPrefix(dep.Version, "v")
		}
	}
	return ""
}

// Package version knows which build of the gate is running.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by release builds: -ldflags "-X
// github.com/small-gate/small-gate/internal/version.version=v1.2.3".
var version string

// String is the version: the release's, else the module version or commit that
// the Go toolchain recorded, else "devel".
func String() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// Long is the line that the version command prints.
func Long(program string) string {
	return fmt.Sprintf("%s %s (%s, %s/%s)", program, String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Package version knows which build of the gate is running.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is set by release builds: -ldflags "-X
// github.com/small-gate/small-gate/internal/base/version.version=v1.2.3".
var version string

// String returns the version: the release's, else the module version recorded by the Go toolchain, which in a clone names the commit, else
// "devel".
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
	return "devel"
}

// Long returns the line that the version command prints. It names the commit of the build, if the Go toolchain recorded it; a release has a tag
// instead.
func Long(program string) string {
	var parts []string
	if info, ok := debug.ReadBuildInfo(); ok {
		if commit := setting(info, "vcs.revision"); commit != "" {
			if setting(info, "vcs.modified") == "true" {
				commit += ", changed"
			}
			parts = append(parts, "commit "+commit)
		}
	}
	parts = append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	return fmt.Sprintf("%s %s (%s)", program, String(), strings.Join(parts, ", "))
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

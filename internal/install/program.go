package install

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"unicode"

	"github.com/small-gate/small-gate/internal/base/wording"
	githistory "github.com/small-gate/small-gate/internal/git/history"
)

const (
	goInstall = "go install github.com/small-gate/small-gate/cmd/small-hook@latest"
	withoutGo = "Without Go: " + wording.Docs + "installation.md#the-program"
)

// HowToInstall says how to install a permanent program for hooks to call, and then to type the commands nextCommands.
func HowToInstall(nextCommands ...string) string {
	return wording.Commands(append([]string{goInstall}, nextCommands...)...) + ". " + withoutGo
}

// ResolveProgram returns the absolute path of chosen, the program that shims must call, or of the running program if chosen is empty. It returns
// an error if the running program is a temporary build, or if a shim could not call the program.
func ResolveProgram(chosen string) (string, error) {
	if chosen == "" {
		running, err := os.Executable()
		if err != nil {
			return "", newError("cannot determine where this program is", "Name the program for the hooks to call: --program FILE", err)
		}
		if temporaryBuild(running, os.Getenv("GOCACHE")) {
			return "", newError("this program is a temporary build by go run, at "+wording.Printable(running), "Hooks need a program that stays. Type: "+HowToInstall(ProgramName+" install"), nil)
		}
		chosen = stablePath(running)
	}
	absolute, err := filepath.Abs(chosen)
	if err != nil {
		return "", newError(wording.Printable(chosen)+" cannot be made an absolute path", "", err)
	}
	return absolute, CheckProgram(absolute)
}

// CheckProgram returns an error if no shim could call the program at path, otherwise nil. It does not ask whether this user may.
func CheckProgram(path string) error {
	fault := func(what string, cause error) error {
		return newError("hooks cannot call "+wording.Printable(path)+what, "Name a program that stays where it is, or install one: "+HowToInstall(), cause)
	}
	if strings.ContainsFunc(path, unicode.IsControl) {
		return fault(": its path contains a line break or another control character", nil)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fault("", err)
	case !info.Mode().IsRegular():
		return fault(": it is not an ordinary file", nil)
	case !executable(info):
		return fault(": it is not executable", nil)
	case info.Size() == 0:
		return fault(": it is empty", nil)
	}
	return nil
}

// executable reports whether info's mode lets anybody run the file. Windows has no such mode: there every file counts as executable.
func executable(info fs.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0
}

// temporaryBuild reports whether go run built the program at path: in a folder such as go-build123/b001 of the temporary directory, or in the build cache,
// which is goCache if that is not empty.
func temporaryBuild(path, goCache string) bool {
	if goCache != "" && githistory.IsWithin(goCache, path) {
		return true
	}
	// Go caches a program built by go run in a folder named by a checksum and -d.
	if sum, cached := strings.CutSuffix(filepath.Base(filepath.Dir(path)), "-d"); cached && len(sum) == 64 && strings.Trim(sum, "0123456789abcdef") == "" {
		return true
	}
	return regexp.MustCompile(`/go-build\d+/b\d+/`).MatchString(filepath.ToSlash(path))
}

// stablePath returns the path under which PATH finds the running program, or else running itself. Package managers keep a link on PATH
// that survives an upgrade, while the file behind it moves.
func stablePath(running string) string {
	found, err := exec.LookPath(ProgramName)
	if err != nil || !filepath.IsAbs(found) {
		return running
	}
	here, errHere := os.Stat(running)
	there, errThere := os.Stat(found)
	if errHere == nil && errThere == nil && os.SameFile(here, there) {
		return found
	}
	return running
}

package install

import (
	"crypto/sha256"
	_ "embed" // for the text of the shim
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/small-gate/small-gate/internal/base/wording"
)

//go:embed shim.sh.tmpl
var shimText string

// shim has the data by which one shim differs from another.
type shim struct {
	hook                  Name
	program               string // an absolute path, or "" if the shim looks for small-hook on PATH only
	keptDependsOnFileName bool   // the kept hook reads its file name, so $0 must be its old one
	mayBeMovedAside       bool   // the kept hook's manager may move the shim aside and run it
}

// newShim returns the shim for hook. The shim calls runsFirst, an earlier hook, before the gate; runsFirst.exists is false if there is none.
func newShim(hook Name, program string, runsFirst hookFile) shim {
	writer := writerOf(runsFirst.text)
	return shim{hook: hook, program: program, keptDependsOnFileName: dependsOnFileName(runsFirst.text), mayBeMovedAside: writer != nil && writer.runsMovedAside}
}

// dependsOnFileName reports whether a manager wrote the hook with this text and the hook finds its script by its own file name.
func dependsOnFileName(text string) bool {
	writer := writerOf(text)
	return writer != nil && writer.dependsOnFileName != nil && writer.dependsOnFileName(text)
}

// render returns the shim's text. The second line has the checksum of all others, which shows whether a shim of any version was edited.
func (s shim) render() string {
	program := ""
	if s.program != "" {
		program = wording.ShellQuote(filepath.ToSlash(s.program))
	}
	callKept := `"$sg_kept"`
	if s.keptDependsOnFileName {
		callKept = `sh -c 'sg_kept=$1; shift; . "$sg_kept"' "$0" "$sg_kept"`
	}
	var text strings.Builder
	err := template.Must(template.New("shim").Parse(shimText)).Execute(&text, map[string]any{
		"Hook": string(s.hook), "Program": program, "GoInstall": goInstall, "WithoutGo": withoutGo,
		"Kept": string(s.hook) + keptSuffix, "CallKept": callKept, "Input": s.hook.readsInput(), "Aside": s.mayBeMovedAside, "Lenient": s.hook == PrepareCommitMsg, "Notes": s.hook == PreCommit,
	})
	if err != nil {
		panic("install: the shim's template does not fit its data: " + err.Error())
	}
	first, rest, _ := strings.Cut(text.String(), "\n")
	return first + "\n" + markerLine(s.hook, text.String()) + "\n" + rest
}

// markerLine returns the second line of a shim whose other lines are body.
func markerLine(hook Name, body string) string {
	sum := sha256.Sum256([]byte(body))
	return fmt.Sprintf("# small-gate hook: %s sha256:%s", hook, hex.EncodeToString(sum[:]))
}

// origin says who wrote a hook's file.
type origin int

const (
	foreign origin = iota // somebody else wrote it; also if there is no file
	ours                  // this program wrote it, and nobody edited it
	edited                // this program wrote it, and somebody edited it
)

// originOf tells from the marker line in a hook's text who wrote the hook.
func originOf(hook Name, text string) origin {
	before, rest, found := strings.Cut("\n"+text, "\n# small-gate hook: ")
	line, after, _ := strings.Cut(rest, "\n")
	switch marked := found && strings.Contains(line, " sha256:"); {
	case !marked && strings.Contains(text, "${"+DoctorVariable+"-}"):
		return edited // its marker line is gone; if it were kept as an earlier hook, it would run itself
	case !marked:
		return foreign
	}
	body := strings.TrimPrefix(before+"\n", "\n") + after
	if "# small-gate hook: "+line != markerLine(hook, body) {
		return edited
	}
	return ours
}

// programIn returns the path of the program in text, our shim's, or "" if the shim looks for small-hook on PATH only.
func programIn(text string) string {
	_, rest, found := strings.Cut(text, "\nsg_program='")
	if !found {
		return ""
	}
	quoted, _, found := strings.Cut(rest, "'\n")
	if !found {
		return ""
	}
	return wording.UnquoteShell("'" + quoted + "'")
}

// mayDependOnFileName reports whether a hook's text looks as if it used its own file name.
func mayDependOnFileName(text string) bool {
	return regexp.MustCompile(`basename (-- )?"?\$\{?0|\$\{0##|__FILE__|PROGRAM_NAME|sys\.argv\[0\]`).MatchString(text)
}

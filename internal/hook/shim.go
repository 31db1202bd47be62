package hook

import (
	"crypto/sha256"
	_ "embed" // for the text of the shim
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/small-gate/small-gate/internal/wording"
)

//go:embed shim.sh.tmpl
var shimText string

// shim is what one shim is made from.
type shim struct {
	hook    Name
	program string // an absolute path, or "" for a shim that looks on PATH alone
	ownName bool   // the kept hook must be told the name it had: see [goesByName]
	aside   bool   // the kept hook's manager may move the shim aside and run it
}

// shimFor is the shim for hook where before is the hook that runs before it, if there is one.
func shimFor(hook Name, program string, before hookFile) shim {
	writer := writerOf(before.text)
	return shim{hook: hook, program: program, ownName: goesByName(before.text), aside: writer != nil && writer.runsAside}
}

// render returns the shim's text. Its second line names the hook and the checksum of all other lines, by which a shim that
// somebody edited is told from one that was written so, whatever version of this program wrote it.
func (s shim) render() string {
	program := ""
	if s.program != "" {
		program = wording.ShellQuote(filepath.ToSlash(s.program))
	}
	callKept := `"$sg_kept"`
	if s.ownName {
		callKept = `sh -c 'sg_kept=$1; shift; . "$sg_kept"' "$0" "$sg_kept"`
	}
	var text strings.Builder
	err := template.Must(template.New("shim").Parse(shimText)).Execute(&text, map[string]any{
		"Hook": string(s.hook), "Program": program, "GoInstall": goInstall, "WithoutGo": withoutGo,
		"Kept": string(s.hook) + keptSuffix, "CallKept": callKept, "Input": s.hook.readsInput(), "Aside": s.aside, "ForAgents": s.hook == PrepareCommitMsg,
	})
	if err != nil {
		panic("hook: the shim's template does not fit its data: " + err.Error())
	}
	first, rest, _ := strings.Cut(text.String(), "\n")
	return first + "\n" + markerLine(s.hook, text.String()) + "\n" + rest
}

// markerLine is the second line of a shim whose other lines are body.
func markerLine(hook Name, body string) string {
	sum := sha256.Sum256([]byte(body))
	return fmt.Sprintf("# small-gate hook: %s sha256:%s", hook, hex.EncodeToString(sum[:]))
}

// origin says who wrote a hook's file.
type origin int

const (
	foreign origin = iota // somebody else
	ours                  // this program, and nobody touched it since
	edited                // this program, and somebody edited it
)

// recognise tells whether text is a shim for hook, by the line that markerLine makes.
func recognise(hook Name, text string) origin {
	before, rest, found := strings.Cut("\n"+text, "\n# small-gate hook: ")
	line, after, _ := strings.Cut(rest, "\n")
	if !found || !strings.Contains(line, " sha256:") {
		return foreign
	}
	body := strings.TrimPrefix(before+"\n", "\n") + after
	if "# small-gate hook: "+line != markerLine(hook, body) {
		return edited
	}
	return ours
}

// programIn returns the program's path that a shim of ours names, or "" if it looks on PATH alone.
func programIn(text string) string {
	_, rest, found := strings.Cut(text, "\nsg_program='")
	if !found {
		return ""
	}
	quoted, _, found := strings.Cut(rest, "'\n")
	if !found {
		return ""
	}
	return strings.ReplaceAll(quoted, `'\''`, "'")
}

// mayGoByName reports whether a hook looks as if its own file name mattered to it, without it being certain.
func mayGoByName(text string) bool {
	return regexp.MustCompile(`basename (-- )?"?\$\{?0|\$\{0##|__FILE__|PROGRAM_NAME|sys\.argv\[0\]`).MatchString(text)
}

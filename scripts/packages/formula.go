package main

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed text/small-gate.rb
var formulaText string

var formula = template.Must(template.New("").Parse(formulaText))

// download is an archive of the release.
type download struct{ Name, Sum string }

// writeFormula writes Homebrew's formula, which takes the release's own archives.
func writeFormula(folder, version string, archives []archive) error {
	systems := map[string]map[string]download{"macos": {}, "linux": {}}
	brewSystem := map[string]string{"darwin": "macos", "linux": "linux"} // Homebrew is not for Windows
	brewArch := map[string]string{"amd64": "intel", "arm64": "arm"}
	for _, a := range archives {
		if system := systems[brewSystem[a.os]]; system != nil {
			system[brewArch[a.arch]] = download{name + "_" + version + "_" + a.os + "_" + a.arch + a.extension(), a.sum}
		}
	}
	var text bytes.Buffer
	if err := formula.Execute(&text, map[string]any{"Summary": summary, "Home": home, "Version": version, "Systems": systems, "Programs": programs}); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name+".rb"), text.Bytes(), 0o644)
}

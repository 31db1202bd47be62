package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

//go:embed text/launch.js
var launcher []byte

// manifest is package.json. It has nothing that runs during installation.
type manifest struct {
	Name          string            `json:"name"`
	Version       string            `json:"version"`
	Description   string            `json:"description"`
	License       string            `json:"license"`
	Homepage      string            `json:"homepage"`
	Repository    map[string]string `json:"repository"`
	PublishConfig map[string]string `json:"publishConfig"`
	Bin           map[string]string `json:"bin,omitempty"`
	Engines       map[string]string `json:"engines,omitempty"`
	OS            []string          `json:"os,omitempty"`
	CPU           []string          `json:"cpu,omitempty"`
	// PreferUnplugged keeps yarn from leaving the programs in a zip file, where they cannot be run.
	PreferUnplugged      bool              `json:"preferUnplugged,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

// writeNPM writes a package for each target, and the one that people install: npm installs only that of its dependencies which is for the
// machine's system.
func writeNPM(folder, version string, archives []archive) error {
	base := manifest{
		Version: version, Description: summary, License: "Apache-2.0", Homepage: home,
		Repository:    map[string]string{"type": "git", "url": "git+" + home + ".git"},
		PublishConfig: map[string]string{"access": "public"},
	}
	front := base
	front.Name, front.Bin, front.OptionalDependencies = name, map[string]string{}, map[string]string{}
	front.Engines = map[string]string{"node": ">=18"}
	files := []file{{"launch.js", 0o644, launcher}}
	for _, program := range programs {
		script := "bin/" + program + ".js"
		front.Bin[program] = script
		files = append(files, file{script, 0o755, fmt.Appendf(nil, "#!/usr/bin/env node\nrequire(\"../launch.js\")(%q);\n", program)})
	}
	for _, a := range archives {
		system, cpu, _ := strings.Cut(a.node, "-")
		m := base
		m.Name, m.OS, m.CPU, m.PreferUnplugged = "@"+name+"/"+a.node, []string{system}, []string{cpu}, true
		m.Description += " (the programs for " + a.node + ")"
		front.OptionalDependencies[m.Name] = version
		if err := writePackage(folder, m, below("bin/", a.programs), a.license); err != nil {
			return err
		}
	}
	return writePackage(folder, front, files, archives[0].license)
}

// writePackage writes a package under the name that npm pack would choose.
func writePackage(folder string, m manifest, files []file, license []byte) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	all := append([]file{{"package.json", 0o644, append(text, '\n')}, {"README.md", 0o644, readme}, {"LICENSE", 0o644, license}}, files...)
	packed := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-") + "-" + m.Version + ".tgz"
	return writeTar(filepath.Join(folder, packed), below("package/", all))
}

// below are the files in a folder.
func below(folder string, files []file) []file {
	moved := make([]file, len(files))
	for i, f := range files {
		moved[i] = file{folder + f.path, f.mode, f.data}
	}
	return moved
}

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
)

// writeWheels writes a wheel for each target. An installer copies the files in its scripts folder unchanged, beside python.
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/
func writeWheels(folder, version string, archives []archive) error {
	version = strings.NewReplacer("-alpha.", "a", "-beta.", "b", "-rc.", "rc").Replace(version) // as PyPI writes it
	stem := strings.ReplaceAll(name, "-", "_") + "-" + version
	metadata := fmt.Appendf(nil, "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\nProject-URL: Repository, %s\n"+
		"Description-Content-Type: text/markdown\n\n%s", name, version, summary, home, readme)
	for _, a := range archives {
		wheel := []byte("Wheel-Version: 1.0\nGenerator: " + name + "\nRoot-Is-Purelib: false\n")
		for tag := range strings.SplitSeq(a.wheel, ".") {
			wheel = append(wheel, "Tag: py3-none-"+tag+"\n"...)
		}
		info := stem + ".dist-info/"
		files := append(below(stem+".data/scripts/", a.programs), below(info, []file{
			{"METADATA", 0o644, metadata}, {"WHEEL", 0o644, wheel}, {"LICENSE", 0o644, a.license},
		})...)
		files = append(files, record(info+"RECORD", files))
		if err := writeZip(filepath.Join(folder, stem+"-py3-none-"+a.wheel+".whl"), files); err != nil {
			return err
		}
	}
	return nil
}

// record is the list of a wheel's files with their checksums, except its own.
func record(path string, files []file) file {
	var lines bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&lines, "%s,sha256=%s,%d\n", f.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&lines, "%s,,\n", path)
	return file{path, 0o644, lines.Bytes()}
}

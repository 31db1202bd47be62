package records

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// importsFolder is the folder below .small that holds the imports of files of 1.0.0.
const importsFolder = "imports/v1/"

// File is a manifest's description of one original, which is a file of 1.0.0 kept by the import. Size is in bytes.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// DigestOf returns the sha256 of some bytes, in lower-case hex.
func DigestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// InputDigest returns the digest over the files of a manifest, in their order.
func InputDigest(files []File) string {
	lines := make([]string, len(files))
	for i, f := range files {
		lines[i] = fmt.Sprintf("%s\x00%s\x00%d", f.Path, f.SHA256, f.Size)
	}
	return DigestOf([]byte(strings.Join(lines, "\x00")))
}

// ImportID returns the id of an import with a namespace and an [InputDigest].
func ImportID(namespace, inputDigest string) string {
	return "import_" + DigestOf([]byte(namespace + "\x00" + inputDigest))[:32]
}

// NewImport returns the files of an import of some originals: its manifest and copies of them. The keys of both maps
// are names below .small.
func NewImport(namespace string, originals map[string][]byte) map[string][]byte {
	m := struct {
		Profile   string     `json:"profile"`
		ID        string     `json:"import_id"`
		Namespace string     `json:"namespace"`
		Digest    string     `json:"input_digest"`
		Files     []File     `json:"files"`
		Tasks     []struct{} `json:"tasks"`
	}{Profile: Version, Namespace: namespace}
	for _, name := range slices.Sorted(maps.Keys(originals)) {
		m.Files = append(m.Files, File{Path: name, SHA256: DigestOf(originals[name]), Size: int64(len(originals[name]))})
	}
	m.Digest = InputDigest(m.Files)
	m.ID = ImportID(namespace, m.Digest)
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("records: a manifest cannot be encoded: %v", err))
	}
	folder := importsFolder + m.ID
	out := map[string][]byte{folder + "/manifest.json": append(text, '\n')}
	for name, data := range originals {
		out[folder+"/originals/"+name] = data
	}
	return out
}

// NamespaceOf returns the namespace in the text of a manifest; empty if there is none.
func NamespaceOf(manifest []byte) string {
	var m struct{ Namespace string }
	if json.Unmarshal(manifest, &m) != nil {
		return ""
	}
	return m.Namespace
}

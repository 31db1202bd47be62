package githistory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// PackedRefs calls each for every ref in the file packed-refs of a repository. It fails on a line that git would not write. git itself complains
// about such a line only if its search reaches that line; otherwise it may report an existing ref as missing.
func PackedRefs(commonDir string, format Format, each func(id, name string)) error {
	data, err := os.ReadFile(filepath.Join(commonDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		text, ended := strings.CutSuffix(line, "\n")
		id, name, named := strings.Cut(strings.TrimPrefix(text, "^"), " ")
		peeled := strings.HasPrefix(text, "^")
		switch {
		case ended && strings.HasPrefix(text, "#"):
		case !ended, !format.Valid(id), named == peeled, named && name == "":
			return fmt.Errorf("packed-refs has the line %q", text)
		case named:
			each(id, name)
		}
	}
	return nil
}

// checkPackedRefs fails if packed-refs has a line that git would not write.
func (r *Repo) checkPackedRefs() error {
	return PackedRefs(r.CommonDir, r.format, func(string, string) {})
}

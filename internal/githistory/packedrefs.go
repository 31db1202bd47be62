package githistory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/history"
)

// PackedRefs hands on the refs of the file packed-refs, whose ids have that many
// digits. It fails on a line that git does not write: git itself complains only
// if it comes upon that line in its search, and else takes a ref for missing.
func PackedRefs(commonDir string, digits int, each func(id, name string)) error {
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
		case !ended, len(id) != digits, !history.IsHex(id), named == peeled, named && name == "":
			return fmt.Errorf("packed-refs has the line %q", text)
		case named:
			each(id, name)
		}
	}
	return nil
}

func (r *Repo) checkPackedRefs() error {
	return PackedRefs(r.CommonDir, r.format.idLength, func(string, string) {})
}

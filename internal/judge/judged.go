package judge

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/judge/session"
)

// commitVariable is set by the installed pre-commit hook to the process id of git. The installed prepare-commit-msg hook does not start this
// program if the same process asks about the same index, byte for byte, and pre-commit found nothing.
const commitVariable = "SMALL_GATE_COMMIT"

// notedIndex bounds the size of an index of which a copy is kept for the next hook, in bytes: about 50,000 files.
const notedIndex = 4 << 20

// judged is the index before it was judged, for the next hook of the same commit. The zero value notes nothing.
type judged struct {
	commit string
	index  []byte
}

// judgedFor reads the index, if the installed pre-commit hook asks. An agent's message has to be signed, so its next hook always runs.
func judgedFor(mode string, req session.Request) (judged, error) {
	commit, name := req.Getenv(commitVariable), req.Getenv("GIT_INDEX_FILE")
	if mode != preCommit || commit == "" || commit == "1" || name == "" || req.Dir != "" || req.Agent() != "" { // Windows calls each git 1
		return judged{}, nil
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() > notedIndex {
		return judged{}, nil
	}
	index, err := os.ReadFile(name)
	if err != nil {
		return judged{}, &failure.Error{Message: "cannot read the index: " + err.Error(), Remedy: "make the git directory readable", Err: err}
	}
	return judged{commit, index}, nil
}

// note tells the next hook that the report is about this index and has no findings.
func (j judged) note(gitDir string, report *finding.Report) error {
	if j.commit == "" || report.Verdict != finding.Pass || len(report.Findings) > 0 {
		return nil
	}
	dir := filepath.Join(gitDir, "small-gate")
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "judged-index"), j.index, 0o666) // a partial copy is like no index
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "judged"), []byte(j.commit+"\n"), 0o666)
	}
	if err != nil {
		return &failure.Error{Message: "cannot note what has passed: " + err.Error(), Remedy: "make room in the git directory, and make it writable", Err: err}
	}
	return nil
}

package publish

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/failure"
)

const traceFile = "trace"

// hooked runs git, and finds out whether it was a hook that refused: git's status does not tell, and its words are in the user's language.
func (g *commandLine) hooked(ctx context.Context, args ...string) (result, error) {
	file := filepath.Join(g.gitDir, ownDir, traceFile)
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return result{}, &failure.Error{Message: "cannot write in the git directory: " + err.Error(), Err: err}
	}
	traced := *g
	traced.environ = slices.Concat(g.environ, []string{"GIT_TRACE2_EVENT=" + file})
	done, err := traced.try(ctx, args...)
	if err != nil || done.status == 0 {
		return done, errors.Join(err, removed(file))
	}
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, &failure.Error{Message: "cannot read what git has traced: " + err.Error(), Err: err}
	}
	done.hook = refusing(data)
	return done, removed(file)
}

func removed(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &failure.Error{Message: "cannot remove " + file + ": " + err.Error(), Err: err}
	}
	return nil
}

// refusing is the name of the first hook of a trace that failed and so stopped git; empty if there is none. See git's
// Documentation/technical/api-trace2.
func refusing(trace []byte) string {
	type child struct {
		Event string `json:"event"`
		SID   string `json:"sid"`
		ID    int    `json:"child_id"`
		Hook  string `json:"hook_name"`
		Code  int    `json:"code"`
	}
	type key struct {
		sid string
		id  int
	}
	hooks := map[key]string{}
	lines := bufio.NewScanner(bytes.NewReader(trace))
	lines.Buffer(nil, len(trace)+1)
	for lines.Scan() {
		var c child
		if json.Unmarshal(lines.Bytes(), &c) != nil {
			continue
		}
		switch at := (key{c.SID, c.ID}); {
		case c.Event == "child_start" && !strings.HasPrefix(c.Hook, "post-"):
			hooks[at] = c.Hook
		case c.Event == "child_exit" && c.Code != 0 && hooks[at] != "":
			return hooks[at]
		}
	}
	return ""
}

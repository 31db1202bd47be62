package gate

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
)

// Bounds of a path that is followed. Linux opens no longer one, and follows no
// more links (path_resolution(7)).
const (
	maxPath  = 4096
	maxSteps = 100
	maxLinks = 40
)

// fate is what becomes of one who opens a path. The zero value finds a file.
type fate struct {
	// why is what is wrong, to follow the path in a sentence; fix says what to do
	// about it, and is empty where the file need only be put there.
	why, fix string
}

// absent is what becomes of a path at which a file could be and is not;
// impossible of one at which git keeps none.
var (
	absent     = fate{why: "which is not there"}
	impossible = fate{why: "which no file of a repository can be called", fix: "correct the path: it is one such as agents/planner.md"}
)

// unheardOf reports whether a path can be that of no file: git keeps none
// below ".git" (verify_path in its read-cache.c).
func unheardOf(p string) bool {
	if len(p) > maxPath || strings.Count(p, "/") >= maxSteps || strings.IndexByte(p, 0) >= 0 {
		return true
	}
	return strings.Contains(strings.ToLower("/"+p+"/"), "/.git/")
}

// follower follows paths through a tree. A tree knows no directories but by the
// files that they hold, and is asked for many paths at once: so a path is
// followed as far as everything on it is known, and then what is not is asked.
type follower struct {
	*flowTree
	// files are what was found, by path; asked is what was looked for. A path
	// that ends in a slash stands for anything below it, and then dirs has it.
	files       map[string]File
	asked, dirs map[string]bool
	// targets are the texts of links, by object.
	targets map[string]string
}

// way is how far somebody got on a path.
type way struct {
	// at is where, and rest what follows.
	at   string
	rest []string
	// link is the last symbolic link on the way, and links their number.
	link  string
	links int
}

// broken says that the last link leads astray.
func (w *way) broken(how string) *fate {
	return &fate{
		why: "which is not there: the symbolic link " + quote(w.link) + " " + how,
		fix: "correct the link, or put the file itself in its place",
	}
}

// nowhere says that the path ends where nothing is.
func (w *way) nowhere() *fate {
	if w.link != "" {
		return w.broken("leads nowhere")
	}
	return &fate{why: absent.why, fix: absent.fix}
}

// follow goes along a path from the tree's root, and through the links on it. It
// returns what has to be known first, if that is so.
func (f *follower) follow(name string) (fate, []string) {
	w := &way{rest: strings.Split(name, "/")}
	for len(w.rest) > 0 {
		step := w.rest[0]
		w.rest = w.rest[1:]
		var end *fate
		var need []string
		switch step {
		case "", ".":
		case "..":
			end, need = f.back(w)
		default:
			end, need = f.into(w, step)
		}
		if need != nil {
			return fate{}, need
		}
		if end != nil {
			return *end, nil
		}
	}
	return f.end(w)
}

// back goes to the directory above.
func (f *follower) back(w *way) (*fate, []string) {
	switch {
	case w.at == "":
		return w.broken("leads out of " + f.whole()), nil
	case f.dirs[w.at]:
		w.at = parent(w.at)
		return nil, nil
	case f.asked[w.at+"/"]:
		return w.nowhere(), nil
	}
	return nil, []string{w.at + "/"}
}

// into goes to what a directory holds.
func (f *follower) into(w *way, name string) (*fate, []string) {
	at := path.Join(w.at, name)
	if !f.asked[at] {
		return nil, f.unknown(at, w.rest)
	}
	file := f.files[at]
	switch {
	case file.Mode == modeLink:
		w.link, w.links = at, w.links+1
		return f.through(w, f.targets[file.Object]), nil
	case file.Mode == modeSubmodule && len(w.rest) > 0:
		return &fate{
			why: "which lies in the submodule " + quote(at) + ": its files are no part of this repository",
			fix: "copy the file into this repository, and name it there",
		}, nil
	case file.Path != "" && len(w.rest) > 0:
		return w.nowhere(), nil
	}
	w.at = at
	return nil, nil
}

// through goes on where a link that was just met leads to.
func (f *follower) through(w *way, target string) *fate {
	steps := strings.Split(target, "/")
	last := len(steps) - 1
	steps = append(slices.DeleteFunc(steps[:last:last], func(s string) bool { return s == "" || s == "." }), steps[last])
	w.rest = append(steps, w.rest...)
	switch {
	case w.links > maxLinks:
		return w.broken("goes round in a circle")
	case strings.HasPrefix(target, "/"):
		return w.broken("leads out of " + f.whole())
	case target == "" || unheardOf(path.Join(w.at, strings.Join(w.rest, "/"))) || len(w.rest) > maxSteps:
		return w.nowhere()
	}
	return nil
}

// end says what stands at the end of a path.
func (f *follower) end(w *way) (fate, []string) {
	file := f.files[w.at]
	switch {
	case file.Regular() || file.Unmerged:
		return fate{}, nil
	case file.Mode == modeSubmodule:
		return fate{why: "which is a submodule", fix: "name a file of this repository"}, nil
	case file.Path != "":
		return fate{why: "which is no ordinary file", fix: "replace it by a file"}, nil
	case w.at == "" || f.dirs[w.at]:
		return fate{why: "which is a directory", fix: "name a file in it"}, nil
	case !f.asked[w.at+"/"]:
		return fate{}, []string{w.at + "/"}
	case w.link != "":
		return fate{
			why: "which is not there: the symbolic link " + quote(w.link) + " leads to " + quote(w.at),
			fix: "commit " + typedPath(w.at) + ", or correct the link",
		}, nil
	}
	return absent, nil
}

// parent is the directory that a path lies in, "" for the root.
func parent(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}

// whole is what nothing that is judged may lead out of.
func (f *follower) whole() string {
	if f.revision == "" {
		return "the directory that is judged"
	}
	return "the repository"
}

// unknown lists a path and what follows on it, up to the next step back, as far
// as it was not looked for.
func (f *follower) unknown(at string, rest []string) []string {
	need := []string{at}
	for _, step := range rest {
		if step == ".." {
			break
		}
		if at = path.Join(at, step); !f.asked[at] && at != need[len(need)-1] {
			need = append(need, at)
		}
	}
	return need
}

// ask looks paths up. Of one that ends in a slash it looks what is below.
func (f *follower) ask(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	patterns := make([]string, len(paths))
	for i, p := range paths {
		f.asked[p] = true
		if patterns[i] = policy.LiteralPattern(p); strings.HasSuffix(p, "/") {
			patterns[i] += "**"
		}
	}
	found, err := f.tree.Glob(ctx, f.revision, patterns...)
	if err != nil {
		return err
	}
	for _, file := range found {
		f.files[file.Path] = file
	}
	f.noteDirs()
	return f.readLinks(ctx)
}

// noteDirs notes the directories that what was found lies in.
func (f *follower) noteDirs() {
	for p := range f.files {
		for dir := parent(p); dir != "" && !f.dirs[dir]; dir = parent(dir) {
			f.dirs[dir] = true
		}
	}
}

// readLinks reads the links that were found, as git stores them: a blob whose
// content is the target.
func (f *follower) readLinks(ctx context.Context) error {
	for _, file := range f.files {
		if _, known := f.targets[file.Object]; known || file.Mode != modeLink {
			continue
		}
		blob, err := f.tree.Blob(ctx, file.Object, maxPath)
		if err != nil {
			return err
		}
		f.targets[file.Object] = string(blob.Data) // empty for one that is too long
	}
	return nil
}

// typedPath is a path as somebody would type it, in quotes if it is an odd one.
func typedPath(p string) string {
	if shown := quote(p); shown != `"`+p+`"` || strings.ContainsAny(p, " ,") {
		return shown
	}
	return p
}

// quote shows a path in a message.
func quote(p string) string {
	const most = 120
	if r := []rune(p); len(r) > most {
		p = string(r[:most]) + "…"
	}
	return strconv.Quote(p)
}

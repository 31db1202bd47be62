package catalogue

import (
	"strings"
)

// Example is one of a rule's examples, or a case of its tests, taken apart. It
// is written in the txtar format: a remark, then files, each after a line
//
//	-- PATH --
//
// The files are laid over a valid workspace (testdata/base.txtar), so that an
// example shows only what matters. The conventions:
//
//   - The first element of a path can name a step of a history. A number is a
//     commit: 1 is the first, each is laid over the one before. "ours" and
//     "theirs" are two branches from the last numbered commit, or from the
//     valid workspace if there is none; "merge" merges theirs into ours. A
//     history without a merge ends in two branches, and theirs is to be merged
//     into ours; "again" is a second commit of theirs. "seen" is a branch as a
//     witness last saw it, "now" the branch as it is, with no common history.
//   - A file of one line, "# deleted", does not exist (any more). "# symlink:
//     TARGET" is a symbolic link, "# submodule: COMMIT" a submodule.
//   - The file COMMIT is not a file: it says who made a step's commit: "Author: NAME
//     <ADDRESS>", an empty line, and the message.
//   - The file .small-gate.yml is the configuration that the example is judged
//     by.
type Example struct {
	// Remark is the text before the first file; a rule's examples have none.
	Remark string
	Files  []ExampleFile
}

// ExampleFile is one file of an example at one step.
type ExampleFile struct {
	// Step is a number, "ours", "theirs", "again", "merge", "seen" or "now"; empty if the example has no history.
	Step string
	// Path is slash-separated, from the root of the repository.
	Path string
	// Mode is git's; empty for a file that is absent.
	Mode string
	// Content is the text of a file, the target of a symbolic link, or the commit of a submodule.
	Content string
}

// CommitFile is the path under which an example gives a commit's author and message.
const CommitFile = "COMMIT"

// ParseExample parses an example. It accepts any text.
func ParseExample(text string) Example {
	var ex Example
	var remark strings.Builder
	body := &remark
	bodies := []*strings.Builder{}
	for line := range strings.Lines(text) {
		if name, ok := exampleHeader(line); ok {
			step, path := splitStep(name)
			ex.Files = append(ex.Files, ExampleFile{Step: step, Path: path, Mode: "100644"})
			body = new(strings.Builder)
			bodies = append(bodies, body)
			continue
		}
		body.WriteString(line)
	}
	ex.Remark = strings.TrimSpace(remark.String())
	for i, b := range bodies {
		ex.Files[i].Mode, ex.Files[i].Content = exampleContent(b.String())
	}
	return ex
}

func exampleHeader(line string) (name string, ok bool) {
	line = strings.TrimSpace(line)
	rest, ok := strings.CutPrefix(line, "-- ")
	if !ok {
		return "", false
	}
	name, ok = strings.CutSuffix(rest, " --")
	return strings.TrimSpace(name), ok
}

func splitStep(name string) (step, path string) {
	first, rest, ok := strings.Cut(name, "/")
	if !ok {
		return "", name
	}
	switch first {
	case "ours", "theirs", "again", "merge", "seen", "now":
		return first, rest
	}
	if strings.Trim(first, "0123456789") == "" {
		return first, rest
	}
	return "", name
}

func exampleContent(text string) (mode, content string) {
	line := strings.TrimSuffix(text, "\n")
	if line == "# deleted" {
		return "", ""
	}
	if target, ok := strings.CutPrefix(line, "# symlink: "); ok && !strings.Contains(target, "\n") {
		return "120000", target
	}
	if commit, ok := strings.CutPrefix(line, "# submodule: "); ok && !strings.Contains(commit, "\n") {
		return "160000", commit
	}
	return "100644", text
}

// StepName names the step for people: "commit 2", "ours"; empty without a history.
func (f ExampleFile) StepName() string {
	if f.Step != "" && strings.Trim(f.Step, "0123456789") == "" {
		return "commit " + f.Step
	}
	return f.Step
}

// Kind says what an unusual file is, in words that follow its path, such as "is deleted"; empty for an ordinary file.
func (f ExampleFile) Kind() string {
	switch f.Mode {
	case "100644":
		return ""
	case "120000":
		return "is a symbolic link to " + f.Content
	case "160000":
		return "is a submodule at commit " + f.Content
	}
	return "is deleted"
}

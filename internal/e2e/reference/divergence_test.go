package reference

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/small"
)

// divergence is one kind of case that the gate deliberately decides differently from the reference. docs/small.md is written from the
// first five fields.
type divergence struct {
	what, reference, here string
	// because is the reason, and decides the sentence of the protocol's facts that says so; empty if they are silent, which no class with
	// recorded verdicts may be.
	because, decides string
	// finding matches the gate's finding, as "RULE MESSAGE", if the gate rejects more; says matches a line of the reference if that does.
	finding, says *regexp.Regexp
	// follows matches the gate's further findings in such a case.
	follows *regexp.Regexp
	// plain is true if the two differ even without --strict.
	plain bool
	// in is a further condition on the workspace.
	in func(*workspace) bool
}

const (
	passes       = "passes"
	rejects      = "rejected"
	rejectStrict = "rejected in strict mode"
)

// evidenceGate is the largest class: the reference asks for evidence only with --strict, and the protocol's documents always.
const evidenceGate = "a completed plan task with no evidenced entry, without `--strict`"

// Two rows of the protocol's facts decide several classes.
const (
	twoReaders = "lines ended by U+0085, U+2028, U+2029; `!!binary`; years 0 and 1; a quoted `\"<<\"` key; UTF-16; a one-digit hour; a symbolic link as `.small` or an artifact | passes | rejected: two readers would not see the same"
	dropped    = "a key twice by way of an alias (`&k a: 1`, `*k : 2`); a null key at the root (`~: x`); `0` beside `0x0` | passes, its next write drops one | rejected"
)

var divergences = []divergence{
	{
		what: "anything but comments behind the first YAML document", reference: passes, here: rejects,
		because: "it hides content, since `small` reads the first document alone, and its next write drops the rest.",
		decides: "a second YAML document in an artifact, anything else after the first, marker or not | ignored and dropped by its next write | rejected: it hides content.",
		finding: regexp.MustCompile(`^validate/multiple-documents `),
	},
	{
		what: evidenceGate, reference: passes, here: rejects,
		because: "the protocol's documents forbid it.",
		decides: "a completed plan task with no evidenced entry, without `--strict` | passes, though its documents forbid it | rejected: the evidence gate is part of verify",
		finding: regexp.MustCompile(`^verify/completed-evidence `), plain: true,
	},
	{
		what: "a link whose host only begins as a loopback host does, or has one for a user's name", reference: passes, here: rejectStrict,
		because: "another machine answers.",
		decides: "`http://localhost.example.com/…` in progress | passes (prefix match) | rejected in strict: compare the host",
		finding: regexp.MustCompile(`^lint/insecure-link .* of entry \d+ has the insecure link http://(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])[^/]`),
	},
	{
		what: "secret-like keys and values inside lists of lists", reference: passes, here: rejectStrict,
		because: "its next write leaves them there, for all to read.",
		decides: "secret-like keys inside lists of lists | passes | rejected in strict",
		finding: regexp.MustCompile(`^lint/secret `), in: hasListOfLists,
	},
	{
		what: "the same, and insecure links, below a mapping with keys that are no strings", reference: passes, here: rejectStrict,
		because: "its next write leaves them there, for all to read.",
		finding: regexp.MustCompile(`^lint/(secret|insecure-link) `), in: hasScalarKeys,
	},
	{
		what: "binary data (`!!binary`)", reference: passes, here: rejects,
		because: "its next write puts what it decodes to in its place, so that the entry says something else.",
		decides: twoReaders,
		finding: regexp.MustCompile(`^validate/schema .* is binary data|^verify/workspace "kind" is a value JSON does not have`),
	},
	{
		what: "a key `\"<<\"` in quotes", reference: passes, here: rejects,
		because: "it is text to some readers, and a merge key to others.",
		decides: twoReaders,
		finding: regexp.MustCompile(`^validate/schema the key "<<" of`),
	},
	{
		what: "a key twice under two spellings (`0` and `0x0`)", reference: passes, here: rejects,
		because: "its next write drops one.",
		decides: dropped,
		finding: regexp.MustCompile(`^validate/yaml duplicate key "([-+.\d][\w.:+-]*|~|null|true|false|)"`),
	},
	{
		what: "a key twice by way of an alias (`&k a: 1`, `*k : 2`)", reference: passes, here: rejects,
		because: "its next write drops one.",
		decides: dropped,
		finding: regexp.MustCompile(`^validate/yaml duplicate key `), in: hasAliasKey,
	},
	{
		what: "null for a key at the root (`~: x`)", reference: passes, here: rejects,
		because: "its next write drops it.",
		decides: dropped,
		finding: regexp.MustCompile(`^validate/schema unknown key "(~|[Nn]ull|NULL|)" in the document`),
	},
	{
		what: "a key that is no string and comes by a merge key", reference: passes, here: rejects,
		because: "its next write makes a string of it, so that the entry says something else.",
		finding: regexp.MustCompile(`^validate/schema the key ".*" of .* is no string`), in: contains("<<:"),
	},
	{
		what: "a timestamp in the years 0 and 1, or with an hour of one digit", reference: passes, here: rejects,
		because: "readers of RFC 3339 refuse the one, and take the other for no time.",
		decides: twoReaders,
		finding: regexp.MustCompile(`^lint/timestamp-(format the timestamp "(?:\s|\\[a-z\d]+?)*(000[01]-|\d{4}-\d\d-\d\dT\d:)|order .* is dated \s*000[01]-)`),
		follows: regexp.MustCompile(`^verify/completed-evidence `),
	},
	{
		what: "UTF-16", reference: passes, here: rejects,
		because: "git and editors take it for binary data, and its next write makes UTF-8 of it.",
		decides: twoReaders,
		finding: regexp.MustCompile(`^validate/yaml the byte 0xf[ef] here is not valid UTF-8`),
	},
	{
		what: "lines ended by U+0085, U+2028 or U+2029, where it makes a difference", reference: passes, here: rejects,
		because: "they end a line in YAML 1.1 and not in YAML 1.2: two readers do not see the same.",
		decides: twoReaders,
		finding: regexp.MustCompile(`^validate/yaml YAML readers disagree on whether the character`),
	},
	{
		what: "a symbolic link for `.small` or an artifact", reference: passes, here: rejects,
		because: "git keeps the link and not what it leads to, and its next write goes there.",
		decides: twoReaders,
		finding: regexp.MustCompile(`^validate/not-a-file the path is a symbolic link`),
	},
	{
		what: "a name that differs from a protocol file's or folder's in nothing but case, or dots and blanks at its end", reference: "passes without `--strict`", here: rejects,
		because: "macOS and Windows have one file for both: one takes the other's place.",
		decides: "a name that differs from a protocol file's in case only | ignored without `--strict` | rejected: half of the file systems have one file",
		finding: regexp.MustCompile(`^validate/not-a-file ".*" (is not .*, but|differ in nothing but case:) macOS and Windows`), plain: true,
	},
	{
		what: "a lease of another form", reference: passes, here: "a warning; rejected in strict mode, and where another task has a lease",
		because: "it binds nobody, and the agent that wrote it believes that it does; one that is null, empty or of nulls is none.",
		decides: "a lease that is `{}`, empty or of nulls | passes | none; other odd forms warn, and block only in strict or where leases are in use",
		finding: regexp.MustCompile(`^lease/malformed `),
	},
	{
		what: "nesting deeper than 1,000 levels", reference: passes, here: rejects,
		because: "a hook has to end in bounded time and memory.",
		finding: regexp.MustCompile(`^validate/yaml nested deeper than 1000 levels`),
	},
	{
		what: "a file above 16 MiB", reference: passes, here: "rejected; the limit can be set",
		because: "a hook has to end in bounded time and memory.",
		decides: "a file above 16 MiB | passes | rejected, the limit is configurable",
		finding: regexp.MustCompile(`^validate/too-large `),
	},
	{
		what: "a full 40-digit hash in `commit`", reference: rejectStrict, here: passes,
		because: "it is evidence, and no secret.",
		decides: "a full 40-digit hash in `commit`, strict | rejected as a secret | passes: it is evidence",
		says:    regexp.MustCompile(`potential secret detected at .*\.commit$`),
	},
	{
		what: "replay ids inside evidence or a task", reference: rejectStrict, here: passes,
		because: "they are ids, and no secrets.",
		decides: "replay ids inside evidence, strict | rejected as a secret | passes",
		says:    regexp.MustCompile(`potential secret detected at .*\.(replay_id|previous_replay_id|replayId\.value)$`),
	},
	{
		what: "`http://` before a closing parenthesis", reference: rejectStrict, here: passes,
		because: "it names no host.",
		decides: "`(http://)` is none.",
		says:    regexp.MustCompile(`insecure link detected`), in: contains("http://)"),
	},
	{
		what: "a text that yaml.v3 does not write back as it was", reference: "rejected where it cannot be read then", here: "a warning; rejected in an entry that a change adds",
		because: "its next write breaks the file, but a committed entry must not change.",
		decides: "Such a text is valid YAML and a danger: an error for every entry that a change adds, strict or not, and `append` refuses it (write, read back, compare); old entries keep the warning.",
		says:    regexp.MustCompile(`failed to convert YAML to JSON: yaml: `), in: hasBrokenText,
	},
}

// explains reports whether the divergence explains a finding of the gate, or a line of the reference.
func (d *divergence) explains(w *workspace, strict bool, report *finding.Report, found *finding.Finding, line string) bool {
	if d.plain && strict || d.in != nil && !d.in(w) {
		return false
	}
	if found != nil {
		return d.matches(found) || d.follows != nil && d.follows.MatchString(inWords(found)) &&
			slices.ContainsFunc(report.Findings, func(f finding.Finding) bool { return d.matches(&f) })
	}
	return d.says != nil && d.says.MatchString(line)
}

func (d *divergence) matches(f *finding.Finding) bool {
	return d.finding != nil && d.finding.MatchString(inWords(f))
}

func inWords(f *finding.Finding) string { return f.Rule + " " + f.Message }

// unexplained returns the findings and lines that no divergence explains if the two verdicts differ.
func unexplained(w *workspace, strict bool, report *finding.Report, output string) []string {
	var out []string
	check := func(finding *finding.Finding, line string) {
		if !slices.ContainsFunc(divergences, func(d divergence) bool { return d.explains(w, strict, report, finding, line) }) {
			out = append(out, line)
		}
	}
	if report.Verdict == finding.Fail {
		for i := range report.Findings {
			if f := &report.Findings[i]; f.Severity == finding.SeverityError {
				check(f, f.Path+": "+f.Rule+" "+f.Message)
			}
		}
		return out
	}
	lines := 0
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || summary.MatchString(line) {
			continue
		}
		lines++
		check(nil, line)
	}
	if lines == 0 {
		out = append(out, "the reference rejects it and says nothing that this test knows: "+output)
	}
	return out
}

// summary matches the lines of the reference that count other lines.
var summary = regexp.MustCompile(`^((Validate|Lint|Verification) failed \(|Fix: )`)

func contains(text string) func(*workspace) bool {
	return func(w *workspace) bool {
		return slices.ContainsFunc(w.files, func(f file) bool { return bytes.Contains(f.data, []byte(text)) })
	}
}

// parsed is an artifact's content; nil if it cannot be read.
func (w *workspace) parsed(a small.Artifact) *small.Value {
	for _, f := range w.files {
		if f.name == a.FileName() {
			if doc, _ := small.Parse(f.data, small.Limits{}); doc != nil {
				return doc.Root
			}
		}
	}
	return nil
}

// hasScalarKeys looks for keys that are not strings.
func hasScalarKeys(w *workspace) bool {
	return slices.ContainsFunc(small.Artifacts, func(a small.Artifact) bool {
		root := w.parsed(a)
		return root != nil && anyValue(root, func(v *small.Value) bool {
			return slices.ContainsFunc(v.Fields, func(f small.Field) bool { return !f.HasStringKey() })
		})
	})
}

// hasAliasKey looks for a key that is an alias.
func hasAliasKey(w *workspace) bool {
	var look func(n *yaml.Node) bool
	look = func(n *yaml.Node) bool {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.AliasNode || look(child) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(w.files, func(f file) bool {
		var root yaml.Node
		return yaml.Unmarshal(f.data, &root) == nil && look(&root)
	})
}

func hasBrokenText(w *workspace) bool {
	return slices.ContainsFunc(small.Artifacts, func(a small.Artifact) bool {
		root := w.parsed(a)
		return root != nil && slices.ContainsFunc(small.Suspects(root), small.Suspect.BreaksOnWrite)
	})
}

func hasListOfLists(w *workspace) bool {
	return slices.ContainsFunc(small.Artifacts, func(a small.Artifact) bool {
		root := w.parsed(a)
		return root != nil && anyValue(root, func(v *small.Value) bool {
			return slices.ContainsFunc(v.Items, func(item *small.Value) bool { return item.Kind == small.List })
		})
	})
}

func anyValue(v *small.Value, holds func(*small.Value) bool) bool {
	return holds(v) ||
		slices.ContainsFunc(v.Items, func(item *small.Value) bool { return anyValue(item, holds) }) ||
		slices.ContainsFunc(v.Fields, func(f small.Field) bool { return anyValue(f.Value, holds) })
}

package smalltest

import (
	"fmt"
	"strings"
	"time"
)

// LogText is a progress log of n entries, each about the size of those in public logs: 780 bytes.
func LogText(n int) string {
	var b strings.Builder
	b.WriteString("small_version: \"1.0.0\"\nowner: \"agent\"\nentries:\n")
	for i := range n {
		b.WriteString(LogEntry(i))
	}
	return b.String()
}

// LogEntry is the i-th entry of such a log.
func LogEntry(i int) string {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * 61 * time.Second)
	return fmt.Sprintf(`  - timestamp: %q
    task_id: "task-%d"
    replayId: "%064x"
    status: "completed"
    evidence: |
%s    command: "go test ./importer -run 'TestImport/%d'"
    commit: "0123abc"
    notes: %q
`, at.Format("2006-01-02T15:04:05.000000000Z07:00"), i/3, i/100,
		strings.Repeat("      a line of what the tests printed, with words\n", 7), i, strings.Repeat("a note ", 14))
}

// LogSizes are the sizes that benchmarks try, in entries.
var LogSizes = []int{10, 1_000, 20_000}

// LogPieces are lines of a log, good and bad, for the places where appended text could have another meaning than alone.
var LogPieces = []string{
	"D- task_id: a\nD  evidence: x\n", "D- task_id: b\nD  notes: |\nD    text\n", "D- {task_id: c, evidence: 'y'}\n", "D- ~\n", "D-\n", "D- plain\n",
	"D- task_id: a\nD  notes: |+\nD    kept\n\n\n", "D- notes: |\n\n", "D- |2\nD    indented\n", "D- >-\nD    folded\nD    text\n", "D- 'quoted\n\nD  on two lines'\n",
	"D- - nested\nD  - list\n", "D- ? key\nD  : value\n", "D-   wide: 1\nD     gap: 2\n", "D- a:\n", "D- a:\nD  - in the key's column\n", "D- \"u\u2028v\"\n",
	"D- plain text\nD  goes on\n", "D- a: plain\nD     goes on\n", "D- [x,\nD   y]\n", "D- é: größer\n", "D- # comment\nD  a: 1\n", "D- a: \" b\\nc\"\n", "D- {a: {0: 1}}\n", "D- a: 1 # comment\n",
	// Comments, blank lines.
	"# comment\n", "D# comment\n", "        # comment\n", "\n", "   \n", "\n\n", "D  # - not an item\n", "#\u2028D- item\n",
	// Other indentation.
	" D- deeper\n", "- task_id: left\n", "  - two\n", "D  more: 1\n", "D    even: 1\n", "D continues\n", "D-no space\n", "D-\tx\n", "\t- tab\n", "\t\n", "D- \ttab\n",
	// Ends of the list or the document.
	"other: 1\n", "entries: []\n", "entries:\nD- again\n", "owner: agent\n", "---\n", "---\nentries: []\n", "...\n", "... # end\n", "%YAML 1.1\n", "?\n", "}\n", "x\n",
	"<<: {a: 1}\n", "<<<<<<< HEAD\n", "D- \"open\n", "D- 'open\n", "D- [open\n", "\ufeff\n", "\ufeffD- x\n", "D- \xff\n", "D- \x00\n",
	// Links between parts.
	"D- &a anchored\n", "D- *a\n", "D- !t tagged\n", "D- !!str 12\n", "D- {<<: {a: 1}}\n", "D- a: 1\nD  a: 2\n", "D- 1: x\n", "D- 2026-01-01\n", "D- 1.50\n",
	// Other line ends.
	"D- x\r\n", "D- y\r", "D- task_id: z\r\nD  notes: |\r\nD    text\r\n", "D- v\u0085", "D- w\u2029", "\r...\r", "\u2028...\u2028", "D- no end",
	// Scalars on lines of their own.
	"D- |\n", "D- |+\n", "D- >\n", "D-     |\n", "D- a: |\n", "D- a: |1\n", "D  text\n", "D    text\n", "text\n",
}

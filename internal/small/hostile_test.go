package small

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/gittest"
	"github.com/small-gate/small-gate/internal/testkit/smalltest"
)

var full = flag.Bool("full", false, "make the hostile files as large as is read, not a part of it")

// share is the part of a limit that the hostile files use up.
func share(limit int) int {
	if *full {
		return limit
	}
	return limit / smallest
}

// fill repeats a text until the file has the largest size that is read, or the
// most structure.
func fill(unit string) string {
	n := (share(DefaultMaxFileSize) - 10_000) / len(unit)
	if each := StructureOf([]byte(strings.ReplaceAll(unit, "\n", "\r"))) - 1; each > 0 {
		n = min(n, share(maxStructure)/each-50)
	}
	return strings.Repeat(unit, max(n, 1))
}

// numbered joins n texts with their numbers in them.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(format, "%", strconv.Itoa(i)))
	}
	return b.String()
}

// deeper nests n levels of indentation.
func deeper(n int, line string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + line + "\n")
	}
	return b.String()
}

// laughs refers to each line nine times in the next.
func laughs(first, format string) string {
	var b strings.Builder
	b.WriteString("a0: &a0 " + first + "\n")
	for i := range 30 {
		refs := strings.Repeat(fmt.Sprintf("*a%d, ", i), 9)
		fmt.Fprintf(&b, "a%d: &a%d "+format+"\n", i+1, i+1, refs)
	}
	return b.String()
}

const deep = 9990 // the parser's own limit is 10,000 levels

// hostile are files made to cost as much as possible, and what is said about
// them; nothing for those that are read.
var hostile = map[string]struct {
	text func() string
	want string
}{
	// As much structure as is read.
	"flow lists":         {func() string { return "a: [" + fill("[],") + "]" }, ""},
	"flow mappings":      {func() string { return "a: [" + fill("{a: 1},") + "]" }, ""},
	"flow pairs":         {func() string { return "a: [" + fill("a: b,") + "]" }, ""},
	"flow values":        {func() string { return "a: [" + fill("1,") + "]" }, ""},
	"empty texts":        {func() string { return "a: [" + fill("'',") + "]" }, ""},
	"fractions":          {func() string { return "a: [" + fill("1.5e300,") + "]" }, ""},
	"long fractions":     {func() string { return "a: [" + fill("1.52342342342342342342423e-300,") + "]" }, ""},
	"dates":              {func() string { return "a: [" + fill("2026-01-01,") + "]" }, ""},
	"tagged integers":    {func() string { return "a: [" + fill("!!int 1,") + "]" }, ""},
	"own tags":           {func() string { return "a: [" + fill("!a x,") + "]" }, ""},
	"dashes on lines":    {func() string { return "a:\n" + fill("-\n") }, ""},
	"two dashes":         {func() string { return "a:\n" + fill("- -\n") }, ""},
	"items":              {func() string { return "a:\n" + fill("- x\n") }, ""},
	"empty members":      {func() string { return "a:\n" + fill("- '':\n") }, ""},
	"distinct keys":      {func() string { return numbered(share(maxStructure)/2-50, "k%: 1\n") }, ""},
	"comments in flow":   {func() string { return "a: [" + fill("1,#\n") + "]" }, ""},
	"commented items":    {func() string { return "a:\n" + fill("- #\n") }, ""},
	"comments of items":  {func() string { return "a:\n" + fill("- 1\n  #\n#\n\n") }, ""},
	"lone CR":            {func() string { return "a:\r" + fill("-\r") }, ""},
	"LS":                 {func() string { return "a:\u2028" + fill("-\u2028") }, "yaml 1:3 YAML readers disagree on whether the character U+2028 here ends a line, and so on what the file says"},
	"NEL":                {func() string { return "a:\u0085" + fill("-\u0085") }, "yaml 1:3 YAML readers disagree on whether the character U+0085 here ends a line, and so on what the file says"},
	"comments to CR":     {func() string { return "a:\r" + fill("-\r#\r\r") }, ""},
	"990 levels":         {func() string { return "a: [" + fill(strings.Repeat("[", 990)+strings.Repeat("]", 990)+",") + "]" }, ""},
	"entries of numbers": {func() string { return "entries:\n" + fill("- [1,1,1,1,1,1,1,1,1,1,1]\n") }, ""},
	"entries of keys":    {func() string { return "entries:\n" + fill("- {a: 1,b: 1,c: 1,d: 1}\n") }, ""},
	"plain entries":      {func() string { return "entries:\n" + fill("- a: 1\n") }, ""},
	"now and then plain": {func() string { return "entries:\n" + fill("- a: 1\n- 1\n") }, ""},
	"keys of entries":    {func() string { return "entries:\n- a: 1\n" + numbered(share(maxStructure)/3-50, "- k%: 1\n") }, ""},
	"far to the right": {func() string {
		column := strings.Repeat(" ", 500)
		return "entries:\n" + fill(column+"- a: 1\n"+column+"- 1\n")
	}, ""},
	"plan of numbers": {func() string { return "tasks:\n" + fill("- steps: ["+strings.Repeat("1,", 9900)+"]\n") }, ""},
	"anchors":         {func() string { return "a:\n" + numbered(share(maxStructure)/3, "- &a% x\n") }, ""},
	"aliases":         {func() string { return "a: &a x\nb: [" + fill("*a ,") + "]" }, ""},
	"wide merge": {func() string {
		return "a: &a\n" + numbered(share(100_000), "  k%: 1\n") + "b:\n  <<: *a\n" + numbered(share(100_000), "  l%: 1\n")
	}, ""},
	// As much text as is read.
	"plain text":        {func() string { return "a: " + fill("x") }, ""},
	"quoted text":       {func() string { return "a: \"" + fill("x ") + "\"" }, ""},
	"escapes":           {func() string { return "a: \"" + fill("\\n") + "\"" }, ""},
	"digits":            {func() string { return "a: " + fill("1") }, ""},
	"underscores":       {func() string { return "a: 1" + fill("_") }, ""},
	"one-letter lines":  {func() string { return "a: |\n" + fill(" x\n") }, ""},
	"folded lines":      {func() string { return "a: >\n" + fill("  x\n\n") }, ""},
	"plain lines":       {func() string { return "a:\n" + fill(" x\n") }, ""},
	"quoted lines":      {func() string { return "a: \"" + fill("x\n ") + "\"" }, ""},
	"blank lines":       {func() string { return "a: x" + fill("\n") + "b: x" }, ""},
	"blanks":            {func() string { return "a: x" + fill(" ") + "b" }, ""},
	"tabs":              {func() string { return "a: \"" + fill("\t") + "\"" }, ""},
	"comment lines":     {func() string { return fill("# \n") + "a: 1" }, ""},
	"comment":           {func() string { return "a: 1 #" + fill("x") }, ""},
	"comment in a list": {func() string { return "a: [" + fill("#\n\n") + "]" }, ""},
	"anchor name":       {func() string { return "a: &" + fill("x") + " 1" }, ""},
	"tag name":          {func() string { return "a: !" + fill("%41") + " 1" }, ""},
	"document ends":     {func() string { return "a: b\n" + fill("...\n") }, ""},
	"some directives": {func() string {
		long := strings.Repeat("a", 60)
		return directives(maxDirectives) + "---\na:\n" + fill("- !"+long+"42!x y\n")
	}, ""},
	// Too much.
	"more structure":  {func() string { return "a: [" + strings.Repeat("[],", maxStructure) + "]" }, "too-large 1:1 the file has more than 1572864 lines, keys and list items up to here"},
	"more lines":      {func() string { return strings.Repeat("#\n", maxStructure+1) }, "too-large 1572865:1 the file has more than 1572864 lines, keys and list items up to here"},
	"more directives": {func() string { return directives(1 << 19) }, "yaml 101:1 more than 100 lines begin with %, as YAML directives do"},
	"late directives": {func() string { return "a: 1\n...\n" + directives(1<<19) }, "yaml 103:1 more than 100 lines begin with %, as YAML directives do"},
	"100 MB":          {func() string { return strings.Repeat("- x\n", 25_000_000) }, "too-large 0:0 the file has 100000000 bytes, the limit is 16777216"},
	"brackets":        {func() string { return "a: " + fill("[") }, "yaml 1:1 not YAML: exceeded max depth of 10000"},
	"braces":          {func() string { return fill("{a: ") }, "yaml 1:1 not YAML: exceeded max depth of 10000"},
	"dashes":          {func() string { return "a:\n" + fill("- ") }, "yaml 2:1 not YAML: exceeded max depth of 10000"},
	"question marks":  {func() string { return fill("? ") }, "yaml 1:1 not YAML: exceeded max depth of 10000"},
	"bracket levels":  {func() string { return "a: " + strings.Repeat("[", deep) + strings.Repeat("]", deep) }, "yaml 1:1003 nested deeper than 1000 levels"},
	"brace levels":    {func() string { return strings.Repeat("{a: ", deep) + strings.Repeat("}", deep) }, "yaml 1:4001 nested deeper than 1000 levels"},
	"dash levels":     {func() string { return "a:\n" + fill(strings.Repeat("- ", deep)+"x\n") }, "yaml 2:1999 nested deeper than 1000 levels"},
	"indentation":     {func() string { return deeper(5700, "a:") }, "yaml 1001:1001 nested deeper than 1000 levels"},
	"dashes indented": {func() string { return "a:\n" + deeper(5700, "-") }, "yaml 1001:1000 nested deeper than 1000 levels"},
	"both levels": {func() string {
		return "a:\n" + strings.Repeat("- ", deep) + strings.Repeat("[", deep) + strings.Repeat("]", deep)
	}, "yaml 2:1999 nested deeper than 1000 levels"},
	"keys of keys":  {func() string { return "a:\n" + fill(" "+strings.Repeat("? ", deep)+"x\n") }, "yaml 2:4 a key is a mapping; keys are single values"},
	"same key":      {func() string { return fill("a: 1\n") }, "yaml 2:1 duplicate key \"a\"; it is already on line 1"},
	"same flow key": {func() string { return "{" + fill("a,") + "}" }, "yaml 1:4 duplicate key \"a\"; it is already on line 1"},
	"wrong tags":    {func() string { return "a: [" + fill("!!int x,") + "]" }, "yaml 1:5 the value does not fit its tag !!int"},
	"documents":     {func() string { return "a: b\n" + fill("---\nc: d\n") }, "multiple-documents 2:1 a second YAML document begins here, and a file must have exactly one"},
	"late error":    {func() string { return "entries:\n" + strings.Repeat("  - [[[],[]],[[],[]]]\n", 7000) + "  y: [\n" }, "yaml 7002:1 not YAML: did not find expected '-' indicator"},
	"later error":   {func() string { return "entries:\n" + strings.Repeat("  - x: 1\n", 300_000) + "  y: [\n" }, "yaml 1:1 not YAML: did not find expected '-' indicator"},
	// Aliases.
	"billion laughs":  {func() string { return laughs("[x]", "[%s]") }, "yaml 5:30 aliases make the document grow beyond 10 times its size"},
	"laughing merges": {func() string { return laughs("{x: 1}", "{<<: [%s]}") }, "yaml 5:30 aliases make the document grow beyond 10 times its size"},
	"long texts": {func() string {
		return "a: &a " + strings.Repeat("x", 1<<20) + "\nb:\n" + strings.Repeat("- *a\n", 20_000)
	}, "yaml 14:3 aliases make the document grow beyond 10 times its size"},
	"long keys": {func() string {
		return "&a " + strings.Repeat("x", 1000) + ": 1\nb:\n" + strings.Repeat("- {*a : 1}\n", 100_000)
	}, "yaml 12061:4 aliases make the document grow beyond 10 times its size"},
	"chain":           {func() string { return "a0: &a0 x\n" + aliasChain(100_000) }, "yaml 1000:14 nested deeper than 1000 levels"},
	"list in itself":  {func() string { return "a: &a [" + fill("*a ,") + "]" }, "yaml 1:8 the alias *a lies inside the node that it refers to"},
	"merge of itself": {func() string { return "a: &a {<<: *a}" }, "yaml 1:12 the alias *a lies inside the node that it refers to"},
	"through others":  {func() string { return "a: &a {b: &b [{<<: {c: *a}}]}" }, "yaml 1:24 the alias *a lies inside the node that it refers to"},
}

func directives(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%%TAG !%s%d! x\n", strings.Repeat("a", 60), i)
	}
	s := b.String()
	return s[:min(len(s), DefaultMaxFileSize/2)]
}

func aliasChain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d]\n", i+1, i+1, i)
	}
	return b.String()
}

// maxPeak is how much memory one file may take, in bytes: text, parsed form and
// what a schema says about it, with the runtime's garbage.
const maxPeak = 1 << 30

const hostileProcess = "SMALL_TEST_HOSTILE"

// TestHostileFiles reads the hostile files one after the other, in a process of
// their own, and bounds the memory of that process. Time is bounded by what a
// whole test may take: a cost that grows with the square of any of these files
// would take hours.
func TestHostileFiles(t *testing.T) {
	gittest.Long(t)
	if os.Getenv(hostileProcess) != "" {
		for name := range hostile {
			t.Run(name, func(t *testing.T) { judgeHostile(t, name) })
			debug.FreeOSMemory()
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestHostileFiles$", fmt.Sprintf("-full=%v", *full))
	cmd.Env = append(os.Environ(), hostileProcess+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	peak, known := peakMemory(cmd.ProcessState)
	if !known {
		t.Log("this system does not tell the peak memory of a process; it is not judged")
		return
	}
	t.Logf("%3d MiB, %v of processor time", peak>>20, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	if peak > maxPeak {
		t.Errorf("the process took %d MiB, at most %d are expected", peak>>20, maxPeak>>20)
	}
}

// TestLargestLog: 20,000 entries of a log's usual size are within the limits.
func TestLargestLog(t *testing.T) {
	text := smalltest.LogText(20_000)
	doc, problems := Parse([]byte(text), Limits{})
	if doc == nil || len(doc.Root.Get("entries").Items) != 20_000 {
		t.Fatalf("%d bytes: %v", len(text), problems)
	}
	if 2*doc.Structure > maxStructure {
		t.Errorf("a usual log of %d bytes uses up %d of %d", len(text), doc.Structure, maxStructure)
	}
}

// CheckArtifact judges a document by its schema; the package that does so imports this one.
var CheckArtifact func(Artifact, *Document)

func judgeHostile(t *testing.T, name string) {
	c := hostile[name]
	doc, problems := Parse([]byte(c.text()), Limits{})
	switch {
	case doc == nil && c.want == "":
		t.Fatalf("not read: %s", says(problems[0]))
	case doc == nil:
		got, _, _ := strings.Cut(says(problems[0]), " | ")
		if got != c.want {
			t.Fatalf("says %q, want %q", got, c.want)
		}
		return
	case c.want != "":
		t.Fatalf("is read; want %q", c.want)
	}
	artifact := Progress
	if doc.Root.Get("tasks") != nil {
		artifact = Plan
	}
	CheckArtifact(artifact, doc)
	EntryDigest(doc.Root)
}

package report

import (
	"bytes"
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/small-gate/small-gate/internal/gate/finding"

	"github.com/small-gate/small-gate/internal/wording"
)

const (
	// maxCases is how many test cases are written.
	maxCases = 5000
	// maxInCase is how many findings one case tells in full.
	maxInCase = 20
	// maxBodies is how many bytes all cases' texts have together; the later
	// ones are one line. GitLab reads files of up to 30 MB.
	maxBodies = 8 << 20
)

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr,omitempty"`
	// Time is 0: nothing is measured, but readers stumble where it is absent.
	Time  int         `xml:"time,attr"`
	Cases []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Time    int          `xml:"time,attr"`
	Skipped *junitText   `xml:"skipped"`
	Error   *junitResult `xml:"error"`
	Failure *junitResult `xml:"failure"`
	Output  *junitText   `xml:"system-out"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Body    string `xml:",cdata"`
}

type junitText struct {
	Body string `xml:",cdata"`
}

// junit builds the suites: the first says whether the judgement was made, then
// one follows for each file.
type junit struct {
	suites []junitSuite
	at     map[string]int // a file's suite
	cases  int
	hidden int    // findings for which there was no room
	room   int    // bytes left for texts
	where  string // says where the findings are that are not told
}

// renderJUnit writes the report as test results. A case is one rule in one
// file: a failure for errors, passed with a text for warnings, skipped where a
// waiver excuses them. A log about which nothing is said is a case that
// passed; rules that found nothing are not listed, as the report does not say
// which of them had something to judge. Outcome 2 is the error of a case of
// its own. There is no timestamp, so that the same report gives the same file.
func renderJUnit(buf *bytes.Buffer, r *finding.Report, _ Options) error {
	j := &junit{at: map[string]int{}, room: maxBodies, where: seeRest(r)}
	j.suites = []junitSuite{{Name: "small-gate"}}
	for i := range r.Ledgers {
		j.suite(r.Ledgers[i].Path)
	}
	j.findings(r, r.Findings, false)
	j.findings(r, r.Waived, true)
	for i := range j.suites[1:] {
		if s := &j.suites[i+1]; len(s.Cases) == 0 && j.cases < maxCases {
			j.add(s, junitCase{Class: s.Name, Name: "no findings"})
		}
	}
	j.judged(r)
	buf.WriteString(xml.Header)
	enc := xml.NewEncoder(buf)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: j.suites}); err != nil {
		return err
	}
	buf.WriteByte('\n')
	return nil
}

// suite is the suite of one file.
func (j *junit) suite(path string) *junitSuite {
	i, known := j.at[path]
	if !known {
		i = len(j.suites)
		j.at[path] = i
		name := Sanitize(path)
		if strings.TrimSpace(name) == "" {
			name = "(no file)"
		}
		j.suites = append(j.suites, junitSuite{Name: name})
	}
	return &j.suites[i]
}

// add puts a case into a suite and counts it.
func (j *junit) add(s *junitSuite, c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Error != nil:
		s.Errors++
	case c.Failure != nil:
		s.Failures++
	case c.Skipped != nil:
		s.Skipped++
	}
	j.cases++
}

// findings makes the cases of some findings, one for each rule in each file.
func (j *junit) findings(r *finding.Report, all []finding.Finding, waived bool) {
	type key struct {
		path, rule string
		blocks     bool
	}
	var order []key
	of := map[key][]*finding.Finding{}
	for _, f := range bySeverity(all) {
		k := key{f.Path, f.Rule, f.Severity == finding.SeverityError}
		if len(of[k]) == 0 {
			order = append(order, k)
		}
		of[k] = append(of[k], f)
	}
	for _, k := range order {
		group := of[k]
		if j.cases >= maxCases {
			j.hidden += len(group)
			continue
		}
		s := j.suite(filePath(r, group[0]))
		c := junitCase{Class: s.Name, Name: clip(k.rule, maxName)}
		body := j.body(group)
		switch {
		case waived:
			c.Name += " (waived)"
			c.Skipped = &junitText{body + "waived: " + orNone(group[0].Reason, "no reason given")}
		case k.blocks:
			c.Failure = &junitResult{Message: headline(group), Type: c.Name, Body: body}
		default:
			c.Name += " (warning)"
			c.Output = &junitText{body}
		}
		j.add(s, c)
	}
}

// headline is the first message of a group and how many there are.
func headline(group []*finding.Finding) string {
	words := clip(group[0].Message, maxText)
	if n := len(group) - 1; n > 0 {
		words += " (and " + strconv.Itoa(n) + " more)"
	}
	return words
}

// body tells a group's findings as text does, commit by commit.
func (j *junit) body(group []*finding.Finding) string {
	var body bytes.Buffer
	t := &text{buf: &body, width: defaultWidth, where: j.where}
	shown := 0
	for len(group) > 0 {
		if shown == maxInCase || body.Len() >= j.room {
			t.line("… and ", wording.Count(len(group), "more finding"), "; ", t.where)
			break
		}
		same := 1
		for same < len(group) && group[same].Commit == group[0].Commit && group[same].Parent == group[0].Parent {
			same++
		}
		n := min(same, maxInCase-shown)
		t.group(group[:same], n)
		shown += n
		group = group[same:]
	}
	j.room = max(j.room-body.Len(), 0)
	return body.String()
}

// judged is the case that fails if the judgement was not made, or if not all
// of it is in the file.
func (j *junit) judged(r *finding.Report) {
	s := &j.suites[0]
	words := summaryWords(r) + "\n"
	if notes := r.Examined.Notes; len(notes) > 0 {
		words += lines(strings.Join(notes, "\n")) + "\n"
	}
	c := junitCase{Class: s.Name, Name: "judged", Output: &junitText{words}}
	if f := failureOf(r); f != nil {
		c.Error = &junitResult{Message: clip(f.Message, maxText), Type: cannotJudge, Body: lines(f.Message+"\n"+f.Remedy) + "\n"}
	}
	j.add(s, c)
	if words := unlisted(r); j.hidden > 0 || words != "" {
		if j.hidden > 0 {
			words = strings.TrimSuffix(wording.Count(j.hidden, "more finding")+"; "+seeRest(r)+"; "+words, "; ")
		}
		j.add(s, junitCase{Class: s.Name, Name: "complete", Failure: &junitResult{Message: words, Type: leftOut, Body: words + "\n"}})
	}
}

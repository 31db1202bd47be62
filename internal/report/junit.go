package report

import (
	"bytes"
	"encoding/xml"
	"strings"

	"github.com/small-gate/small-gate/internal/base/wording"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/report/content"
	"github.com/small-gate/small-gate/internal/report/sanitize"
)

const (
	// maxCases is the largest number of test cases.
	maxCases = 5000
	// maxInCase is the largest number of findings that a case shows in full.
	maxInCase = 20
	// maxBodies is the limit for the text of all cases together, in bytes; later cases get one line. GitLab reads files of up to 30 MB.
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
	// Time is 0: nothing is measured, but some programs that read JUnit files fail without it.
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

// junit builds the suites. The first one has the case that says whether everything could be judged; then there is one suite for each file.
type junit struct {
	suites []junitSuite
	at     map[string]int // maps a file's path to the index of its suite
	cases  int
	hidden int // the number of findings that were left out
	room   int // the number of bytes that are left for texts
	places *content.Places
	// seeRest says where the omitted findings are.
	seeRest string
}

// renderJUnit writes the report as test results. A case has the errors of one rule in one file, and fails; or its warnings, and passes with a text; or its
// waived findings, and is skipped. A log without findings is a passed case. A failure of the gate is the error of a separate case. There is no timestamp, so that
// the same report gives the same file.
func renderJUnit(buf *bytes.Buffer, r *finding.Report, _ Options) error {
	j := &junit{at: map[string]int{}, room: maxBodies, places: content.PlacesOf(r), seeRest: content.SeeRest(r)}
	j.suites = []junitSuite{{Name: "small-gate"}}
	for i := range r.Ledgers {
		j.suite(r.Ledgers[i].Path)
	}
	j.findings(r.Findings, false)
	j.findings(r.Waived, true)
	for i := range j.suites[1:] {
		if s := &j.suites[i+1]; len(s.Cases) == 0 && j.cases < maxCases {
			j.add(s, junitCase{Class: s.Name, Name: "no findings"})
		}
	}
	j.addJudged(r)
	buf.WriteString(xml.Header)
	enc := xml.NewEncoder(buf)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: j.suites}); err != nil {
		return err
	}
	buf.WriteByte('\n')
	return nil
}

// suite returns the suite of one file.
func (j *junit) suite(path string) *junitSuite {
	i, known := j.at[path]
	if !known {
		i = len(j.suites)
		j.at[path] = i
		name := sanitize.Line(path)
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
func (j *junit) findings(all []finding.Finding, waived bool) {
	type key struct {
		path, rule string
		blocks     bool
	}
	groups := content.GroupBy(content.BySeverity(all), func(f *finding.Finding) key {
		return key{f.Path, f.Rule, f.Severity == finding.SeverityError}
	})
	for _, group := range groups {
		if j.cases >= maxCases {
			j.hidden += len(group)
			continue
		}
		first := group[0]
		s := j.suite(j.places.Path(first.Path))
		c := junitCase{Class: s.Name, Name: content.Name(first.Rule)}
		body := j.body(group)
		switch {
		case waived:
			c.Name += " (waived)"
			c.Skipped = &junitText{body + "waived: " + content.NameOr(first.Reason, "no reason given")}
		case first.Severity == finding.SeverityError:
			c.Failure = &junitResult{Message: content.Heading(group, content.Text), Type: c.Name, Body: body}
		default:
			c.Name += " (warning)"
			c.Output = &junitText{body}
		}
		j.add(s, c)
	}
}

// body shows a group's findings as the text format does, commit by commit.
func (j *junit) body(group []*finding.Finding) string {
	var body bytes.Buffer
	t := &text{buf: &body, width: content.Width, seeRest: j.seeRest}
	shown := 0
	for len(group) > 0 {
		if shown == maxInCase || body.Len() >= j.room {
			t.line("… and ", wording.Count(len(group), "more finding"), "; ", t.seeRest)
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

// addJudged adds the case that has an error if something could not be judged, and, if findings were left out, a second case, which fails.
func (j *junit) addJudged(r *finding.Report) {
	s := &j.suites[0]
	words := content.Summary(r) + "\n"
	if notes := content.Notes(r); notes != "" {
		words += notes + "\n"
	}
	c := junitCase{Class: s.Name, Name: "judged", Output: &junitText{words}}
	if f := content.Failure(r); f != nil {
		c.Error = &junitResult{Message: content.Text(f.Message), Type: content.CouldNotJudge, Body: content.FailureLines(f) + "\n"}
	}
	j.add(s, c)
	words = content.ListedNowhere(r)
	if j.hidden > 0 {
		words = strings.TrimSuffix(wording.Count(j.hidden, "more finding")+"; "+j.seeRest+"; "+words, "; ")
	}
	if words != "" {
		j.add(s, junitCase{Class: s.Name, Name: "complete", Failure: &junitResult{Message: words, Type: content.LeftOut, Body: words + "\n"}})
	}
}

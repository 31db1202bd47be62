package report

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/base/failure"
	"github.com/small-gate/small-gate/internal/gate/finding"
	"github.com/small-gate/small-gate/internal/ledger"
)

// keyLines are the lines of a made-up private key.
var keyLines = []string{"MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJc", "QmFzZTY0IG9mIG5vdGhpbmcgYXQgYWxsLCAxMjM0", "U29tZSBtb3JlIG9mIG5vdGhpbmcsIDU2Nzg5MGFi"}

// secrets are texts with credentials, assembled here, and the parts that must not be visible.
func secrets() map[string][]string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	body, end := "Jx8Qm2TzK4vWn6Yb1RcHs5LdPf7Ga0", ""
	for sum := crc32.ChecksumIEEE([]byte(body)); len(end) < 6; sum /= 62 {
		end = digits[sum%62:sum%62+1] + end
	}
	kind := " RSA PRIVATE KEY-----"
	return map[string][]string{
		"AKIA" + "Z7Q4T2W6R5XYJ3KM":                      {"Z7Q4"},
		"ghp_" + body + end:                              {"Jx8Qm", end},
		"https://deploy:h7Kd02mQxv@git.acme-tools.dev/x": {"h7Kd", "mQxv"},
		"-----BEGIN" + kind + "\n" + strings.Join(keyLines, "\n") + "\n-----END" + kind: {keyLines[0][:8], keyLines[1][:8], keyLines[2][:8]},
	}
}

// TestSecretsAreMasked puts a credential wherever a repository can put text, also where text is cut.
func TestSecretsAreMasked(t *testing.T) {
	for value, parts := range secrets() {
		for _, before := range []int{0, 3, 50, 95, 155, 395, 590, 1190} {
			text := strings.Repeat("x ", before/2) + value + " after"
			other := strings.Replace(text, keyLines[1], keyLines[2], 1)
			ref := &finding.EntryRef{TaskID: text, Timestamp: text, AgentID: text}
			f := finding.Finding{
				Rule: "append-only/modified", Severity: finding.SeverityError, Message: text, Path: text, Fix: "type `echo " + text + "`", Reason: text,
				Entry: ref, EntryAfter: ref, Changes: []ledger.FieldChange{{Field: text, From: text, To: other, HasFrom: true, HasTo: true}},
				Sides: []finding.Side{{Name: text, Entries: []finding.EntryRef{*ref}}}, Common: finding.Common{Count: 1, Last: []finding.EntryRef{*ref}},
			}
			gone := f
			gone.EntryAfter, gone.Changes = nil, []ledger.FieldChange{{Field: text, From: text, HasFrom: true}}
			r := &finding.Report{
				Verdict: finding.Error, Findings: []finding.Finding{f, gone}, Waived: []finding.Finding{f}, Failure: &failure.Error{Message: text, Remedy: text},
				Examined: finding.Examined{Policy: text, Source: text, Notes: []string{text}},
				Ledgers:  []finding.LedgerState{{Path: text, Log: []finding.LogEntry{{TaskID: text, Timestamp: text, ReplayID: text, Evidence: text}}}},
			}
			for _, format := range Formats() {
				var out bytes.Buffer
				if err := Write(&out, format, r, Options{Width: 80}); err != nil {
					t.Fatal(err)
				}
				absent(t, fmt.Sprintf("%s, %d before", format, before), out.String(), parts)
			}
			absent(t, fmt.Sprintf("agent, %d before", before), ForAgent(r, 8000), parts)
		}
	}
}

func absent(t *testing.T, where, out string, parts []string) {
	t.Helper()
	if len(out) == 0 {
		t.Errorf("%s: nothing was written", where)
	}
	for _, part := range parts {
		if at := strings.Index(out, part); at >= 0 {
			t.Errorf("%s: %q is shown in %q", where, part, out[max(at-80, 0):min(at+80, len(out))])
		}
	}
}

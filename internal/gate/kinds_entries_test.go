package gate_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/small-gate/small-gate/internal/policy"
)

// logKind is a stanza, and how the naive model reads its logs. read gives all entries, those that are not finished too, the oldest first.
type logKind struct {
	policy.Log
	root, suffix  string
	read          func(string) ([]string, bool)
	files, anyEnd bool
}

// unordered reports whether a new entry may stand anywhere.
func (k logKind) unordered() bool { return k.files || k.Order == policy.Free }

// sorted reports whether names say where a new file stands.
func (k logKind) sorted() bool { return k.Order == policy.ByName || k.Order == policy.ByNumber }

// merged reports whether a branch may change its entries until they are merged.
func (k logKind) merged() bool { return k.Frozen == policy.Merged || k.files && k.Frozen == "" }

// plain reports whether an entry never changes in any way.
func (k logKind) plain() bool {
	return k.Open == "" && len(k.Identity.Only) == 0 && len(k.Identity.Without) == 0 && k.Identity.WithoutLines == ""
}

// newLogKind completes a stanza for files that end in suffix.
func newLogKind(suffix string, l policy.Log) logKind {
	l.Path, l.Exclude = "log/**/*"+suffix, []string{"**/draft*"}
	k := logKind{Log: l, root: "log/", suffix: suffix, files: l.Entries == policy.FileEntries, anyEnd: suffix == ""}
	if suffix == "" {
		k.Path = "log/**"
	}
	k.read = map[string]func(string) ([]string, bool){policy.LineEntries: readNaiveLines, policy.BlockEntries: readNaiveBlocks, policy.ListEntries: readNaiveList}[l.Entries]
	if l.Order == policy.NewestFirst {
		k.read = reversed(k.read)
	}
	return k
}

var logKinds = []logKind{
	newLogKind(".txt", policy.Log{Entries: policy.LineEntries}),
	newLogKind(".json", policy.Log{Entries: policy.ListEntries, At: "of.log"}),
	newLogKind(".new", policy.Log{Entries: policy.LineEntries, Order: policy.NewestFirst}),
	newLogKind(".md", policy.Log{Entries: policy.BlockEntries, Start: "^## "}),
	newLogKind(".md", policy.Log{Entries: policy.BlockEntries, Start: "^## ", Order: policy.NewestFirst}),
	newLogKind(".sql", policy.Log{Entries: policy.FileEntries, Order: policy.ByName}),
	newLogKind("", policy.Log{Entries: policy.FileEntries}),
	newLogKind(".sql", policy.Log{Entries: policy.FileEntries, Order: policy.ByName, Frozen: string(policy.Committed)}),
	newLogKind("", policy.Log{Entries: policy.FileEntries, Frozen: string(policy.Committed)}),

	newLogKind(".sql", policy.Log{Entries: policy.FileEntries, Order: policy.ByNumber}),
	newLogKind(".sql", policy.Log{Entries: policy.FileEntries, Order: policy.ByNumber, Frozen: string(policy.Committed)}),
	newLogKind(".txt", policy.Log{Entries: policy.LineEntries, Order: policy.Free}),
	newLogKind(".jsonl", policy.Log{Entries: policy.LineEntries, Identity: byID, Order: policy.Free}),
	newLogKind(".json", policy.Log{Entries: policy.ListEntries, At: "of.log", Identity: byID, Order: policy.Free}),
	newLogKind(".jsonl", policy.Log{Entries: policy.LineEntries, Identity: byID}),
	newLogKind(".jsonl", policy.Log{Entries: policy.LineEntries, Identity: chained}),
	newLogKind(".json", policy.Log{Entries: policy.ListEntries, At: "of.log", Identity: chained, Order: policy.Free}),
	newLogKind(".md", policy.Log{Entries: policy.FileEntries, Identity: withoutStatus, Open: draft}),
	newLogKind(".md", policy.Log{Entries: policy.FileEntries, Identity: withoutStatus, Open: draft, Frozen: string(policy.Committed)}),
	newLogKind(".md", policy.Log{Entries: policy.BlockEntries, Start: "^## ", Order: policy.NewestFirst, Open: policy.OpenNewest}),
	newLogKind(".md", policy.Log{Entries: policy.BlockEntries, Start: "^## ", Identity: withoutStatus, Open: draft}),
	newLogKind(".txt", policy.Log{Entries: policy.LineEntries, Open: policy.OpenNewest, Frozen: policy.Merged}),
	newLogKind(".txt", policy.Log{Entries: policy.LineEntries, Frozen: policy.Merged}),
	newLogKind(".jsonl", policy.Log{Entries: policy.LineEntries, Identity: byID, Order: policy.Free, Open: `"status": ?"Draft"`, Frozen: policy.Merged}),
	newLogKind(".json", policy.Log{Entries: policy.ListEntries, At: "of.log", Open: "^status: Draft$"}),
}

const draft = "^Status: Draft"

var (
	byID          = policy.Identity{Only: []string{"id"}}
	chained       = policy.Identity{Without: []string{"prev", "hash"}}
	withoutStatus = policy.Identity{WithoutLines: "^Status:"}
)

// finished are the entries that count, as what is compared of each.
func (k logKind) finished(all []string) (out []string) {
	for i, e := range all {
		if k.Open == policy.OpenNewest && i == len(all)-1 || k.Open != policy.OpenNewest && k.Open != "" && k.matchesLine(k.Open, e) {
			continue
		}
		out = append(out, k.identity(e))
	}
	return out
}

// matchesLine reports whether a regular expression matches a line of an entry; an item of a list has a line for each field.
func (k logKind) matchesLine(pattern, entry string) bool {
	var lines []string
	if fields := fieldsOf(entry); k.Entries == policy.ListEntries && fields != nil {
		for key, v := range fields {
			lines = append(lines, fmt.Sprintf("%s: %v", key, v))
		}
	} else {
		lines = strings.Split(entry, "\n")
	}
	return slices.ContainsFunc(lines, regexp.MustCompile(pattern).MatchString)
}

// identity is what is compared of an entry.
func (k logKind) identity(entry string) string {
	if k.Identity.WithoutLines != "" {
		lines := slices.DeleteFunc(strings.Split(entry, "\n"), regexp.MustCompile(k.Identity.WithoutLines).MatchString)
		entry = strings.Join(lines, "\n")
		if k.Entries == policy.BlockEntries {
			entry = strings.TrimRight(entry, "\n")
		}
		return entry
	}
	names, only := k.Identity.Without, false
	if len(k.Identity.Only) > 0 {
		names, only = k.Identity.Only, true
	}
	fields, has := fieldsOf(entry), false
	for key := range fields {
		named := slices.Contains(names, key)
		has = has || named
		if named != only {
			delete(fields, key)
		}
	}
	if !has {
		fields = fieldsOf(entry)
	}
	if !has && (fields == nil || k.Entries != policy.ListEntries) {
		return entry
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// fieldsOf are the fields of a JSON object; nil if it is none, or has a key twice.
func fieldsOf(entry string) map[string]any {
	var fields map[string]any
	if json.Unmarshal([]byte(entry), &fields) != nil || strings.Count(entry, `"id":`) > 1 {
		return nil
	}
	return fields
}

func readNaiveLines(data string) ([]string, bool) {
	var out []string
	for _, line := range strings.Split(strings.TrimPrefix(data, "\ufeff"), "\n") {
		if line = strings.TrimSuffix(line, "\r"); strings.TrimSpace(line) != "" {
			out = append(out, line)
		}
	}
	return out, true
}

// readNaiveBlocks reads what begins with a heading. White space at the end of a block does not count.
func readNaiveBlocks(data string) ([]string, bool) {
	_, blocks, _ := strings.Cut("\n"+strings.ReplaceAll(strings.TrimPrefix(data, "\ufeff"), "\r\n", "\n"), "\n## ")
	var out []string
	for _, block := range strings.Split(blocks, "\n## ") {
		if block != "" {
			out = append(out, "## "+strings.TrimRight(block, "\n"))
		}
	}
	return out, true
}

// reversed reads a log whose newest entry comes first.
func reversed(read func(string) ([]string, bool)) func(string) ([]string, bool) {
	return func(data string) ([]string, bool) {
		entries, ok := read(data)
		slices.Reverse(entries)
		return entries, ok
	}
}

func readNaiveList(data string) ([]string, bool) {
	var doc struct {
		Of struct{ Log []json.RawMessage }
	}
	err := json.Unmarshal([]byte(data), &doc)
	var out []string
	for _, item := range doc.Of.Log {
		out = append(out, string(item))
	}
	return out, err == nil && doc.Of.Log != nil
}

// entry is a new entry, of a form that the kind's stanza speaks of.
func (w *kindWorld) entry() string {
	w.tick++
	switch {
	case w.kind.Entries == policy.BlockEntries && !w.kind.plain():
		return fmt.Sprintf("## e%d\nStatus: %s\ntext", w.tick, w.status())
	case w.kind.Entries == policy.BlockEntries:
		return []string{fmt.Sprintf("## e%d\ntext", w.tick), fmt.Sprintf("## e%d\n\n\xff\x00\n### more", w.tick), "## same"}[w.n(6)/2]
	case w.kind.suffix == ".jsonl" || w.kind.suffix == ".json" && !w.kind.plain():
		return w.record(w.tick)
	case w.kind.Entries == policy.ListEntries:
		return []string{fmt.Sprintf(`"e%d"`, w.tick), fmt.Sprintf(`{"id":%d}`, w.tick), `"same"`}[w.n(6)/2]
	}
	return []string{fmt.Sprint("e", w.tick), fmt.Sprint("\xff\x00", w.tick), "same", fmt.Sprint("\ufeff", w.tick)}[w.n(8)/2%4]
}

// status is one that an entry may have.
func (w *kindWorld) status() string { return []string{"Draft", "Accepted", "Done"}[w.n(3)] }

// record is an entry with fields, or seldom without.
func (w *kindWorld) record(id int) string {
	switch w.n(10) {
	case 0:
		return fmt.Sprintf(`"e%d"`, id)
	case 1:
		return fmt.Sprintf(`{"v": %d}`, w.n(4))
	case 2:
		if w.kind.Entries == policy.LineEntries {
			return fmt.Sprintf(`{"id":%d, "id":%d}`, id, w.n(4))
		}
	case 3:
		return fmt.Sprintf(`{"prev":%d,"status":"%s","id":%d}`, w.n(4), w.status(), id)
	}
	return fmt.Sprintf(`{"id":%d,"status":"%s","prev":%d}`, id, w.status(), w.n(4))
}

// revised is an entry with other words where it may change, if there are any. newest is true if no other follows.
func (w *kindWorld) revised(entry string, newest bool) (string, bool) {
	fields := fieldsOf(entry)
	id, isRecord := fields["id"].(float64)
	switch {
	case w.kind.Open == policy.OpenNewest:
		return w.entry(), newest
	case isRecord && w.kind.Open != "" && fields["status"] == "Draft" || isRecord && len(w.kind.Identity.Only) > 0:
		return w.record(int(id)), true
	case isRecord && fields["prev"] != nil:
		return fmt.Sprintf(`{"id":%v, "status":"%v", "prev":%d}`, id, fields["status"], w.n(9)), true
	case strings.Contains(entry, "Status: "):
		return regexp.MustCompile("Status: .*").ReplaceAllString(entry, "Status: "+w.status()), true
	}
	return entry, false
}

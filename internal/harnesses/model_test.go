//go:build !windows

package harnesses_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// call is a use of one of the harness's tools.
type call struct {
	tool  string
	input map[string]any
}

// step is what a model answers: calls of tools, or words alone, with which its turn ends.
type step struct {
	calls []call
	words string
}

// turn makes a step of what the model was just told: the texts of the conversation so far.
type turn func(p *program, told string) step

// says ends the turn.
func says(words string) turn {
	return func(*program, string) step { return step{words: words} }
}

// types has the harness's shell run a command line.
func types(line string) turn {
	return func(p *program, _ string) step { return step{calls: p.shell(line)} }
}

// edits has the harness's own tool replace a text that a file has once. The file's path is absolute.
func edits(file, from, to string) turn {
	return func(p *program, _ string) step { return step{calls: p.edit(file, from, to)} }
}

// obeys types the commands of the last fix that the model was told, in order, and nothing else.
func obeys(p *program, told string) step { return types(strings.Join(fixIn(told), "\n"))(p, told) }

// model is a fake model on the loopback interface. It takes its turns one after the other, the last one again and again, and writes
// down what it is told.
type model struct {
	*httptest.Server
	t       testing.TB
	program *program
	turns   []turn

	mu    sync.Mutex
	told  []string
	other []string
}

func newModel(t testing.TB, p *program, turns ...turn) *model {
	m := &model{t: t, program: p, turns: turns}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// ServeHTTP answers as the service of p's models would. As a proxy it refuses to lead anywhere.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		m.t.Error(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Host != strings.TrimPrefix(m.URL, "http://") || !strings.Contains(r.URL.Path, m.program.path) {
		m.other = append(m.other, r.Method+" "+r.Host+r.URL.Path)
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	var request map[string]json.RawMessage
	err = json.Unmarshal(body, &request)
	told := ""
	if err == nil {
		told, err = texts(request[m.program.conversation])
	}
	if err != nil {
		m.t.Errorf("the request is not as known: %v\n%s", err, body)
	}
	take := m.turns[min(len(m.told), len(m.turns)-1)]
	m.told = append(m.told, told)
	w.Header().Set("Content-Type", "text/event-stream")
	if _, err := w.Write(stream(m.program.answer(len(m.told), take(m.program, told)))); err != nil && !errors.Is(err, http.ErrAbortHandler) {
		m.t.Error(err)
	}
}

// requests are what the model was told so far.
func (m *model) requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.told)
}

// besides is what it was asked that no model is asked.
func (m *model) besides() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.other)
}

// event is one of a stream of server-sent events. Without a name it has its data alone.
type event struct {
	name string
	data any
}

// done ends some streams.
const done = "[DONE]"

func stream(events []event) []byte {
	var out bytes.Buffer
	for _, e := range events {
		if e.name != "" {
			out.WriteString("event: " + e.name + "\n")
		}
		data := []byte(done)
		if e.data != done {
			data = marshal(e.data)
		}
		out.WriteString("data: " + string(data) + "\n\n")
	}
	return out.Bytes()
}

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of texts and numbers have JSON
	}
	return data
}

// texts are all strings of a JSON document, as they read, each on lines of its own.
func texts(data []byte) (string, error) {
	var out strings.Builder
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out.String(), nil
		}
		if err != nil {
			return out.String(), err
		}
		if text, is := token.(string); is {
			out.WriteString(text + "\n")
		}
	}
}

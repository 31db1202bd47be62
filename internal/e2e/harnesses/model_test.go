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

// call is a call of one of the harness's tools.
type call struct {
	tool  string
	input map[string]any
}

// step is a model's answer: calls of tools, or only words, which end its turn.
type step struct {
	calls []call
	words string
}

// turn makes a step from what the model was told: the texts of the conversation so far.
type turn func(p *program, told string) step

// says ends the turn.
func says(words string) turn {
	return func(*program, string) step { return step{words: words} }
}

// types runs a command with the harness's shell.
func types(line string) turn {
	return func(p *program, _ string) step { return step{calls: p.shell(line)} }
}

// edits replaces a text that occurs once in a file, with the harness's own tool. The file's path is absolute.
func edits(file, from, to string) turn {
	return func(p *program, _ string) step { return step{calls: p.edit(file, from, to)} }
}

// obeys runs exactly the commands of the last fix that the model was told, in order.
func obeys(p *program, told string) step { return types(strings.Join(fixIn(told), "\n"))(p, told) }

// model is a fake model on the loopback interface. It takes its turns one after the other, repeating the last one, and writes down what it
// is told.
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

// ServeHTTP answers as the service of p's models would. As a proxy it refuses every connection.
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

// besides are the requests that are not meant for a model.
func (m *model) besides() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.other)
}

// event is an event in a stream of server-sent events. Without a name it has only data.
type event struct {
	name string
	data any
}

// done is the end of some streams.
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
		panic(err) // maps of texts and numbers can always be encoded
	}
	return data
}

// texts are all strings of a JSON document, decoded, each on lines of its own.
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

package report

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/small-gate/small-gate/internal/testkit/reporttest"
)

// browser is a headless Chromium, controlled by its own protocol over two pipes.
type browser struct {
	t      *testing.T
	to     io.Writer
	from   *bufio.Reader
	last   int
	events []event
	// session is the page's session id.
	session string
}

// event is an unsolicited message from the browser.
type event struct {
	Method string
	Params json.RawMessage
}

func startBrowser(t *testing.T, program string) *browser {
	t.Helper()
	args := []string{
		"--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
		"--user-data-dir=" + t.TempDir(), "about:blank",
	}
	if os.Geteuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...)
	}
	cmd := exec.Command(program, args...)
	theirIn, ourOut := pipe(t)
	ourIn, theirOut := pipe(t)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // they are file descriptors 3 and 4 there
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, theirs := range cmd.ExtraFiles {
		if err := theirs.Close(); err != nil {
			t.Fatal(err)
		}
	}
	b := &browser{t: t, to: ourOut, from: bufio.NewReader(ourIn)}
	t.Cleanup(func() { // t.Context would end it before it could close
		b.session = ""
		b.call("Browser.close", nil, nil)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the browser: %v\n%s", err, said.String())
		}
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = r.Close(), w.Close() //nolint:errcheck // the browser's ends are closed already
	})
	return r, w
}

// call calls a method of the browser and waits for the result. Messages end in a zero byte.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.last++
	request := map[string]any{"id": b.last, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.read()
		if m.ID != b.last {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

type browserMessage struct {
	ID     int
	Error  *struct{ Message string }
	Result json.RawMessage
	event
}

func (b *browser) read() browserMessage {
	b.t.Helper()
	text, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser stopped: %v", err)
	}
	var m browserMessage
	if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	if m.Method != "" {
		b.events = append(b.events, m.event)
	}
	return m
}

// open loads a page and returns what the browser sent meanwhile.
func (b *browser) open(address string) []event {
	b.t.Helper()
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": address}, nil)
	for {
		for _, e := range b.events {
			if e.Method == "Page.loadEventFired" {
				return b.events
			}
		}
		b.read()
	}
}

// eval is the value of an expression in the page.
func (b *browser) eval(expression string, value any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if err := json.Unmarshal(answer.Result.Value, value); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) size(width, height int, phone bool) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 2, "mobile": phone}, nil)
}

func (b *browser) media(kind, scheme string) {
	b.t.Helper()
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": kind, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// picture saves a picture of the whole page for people, if the environment names a folder.
func (b *browser) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("SMALL_GATE_SCREENSHOTS")
	if folder == "" {
		return
	}
	var answer struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &answer)
	data, err := base64.StdEncoding.DecodeString(answer.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	writeFile(b.t, filepath.Join(folder, name+".png"), string(data))
}

// checkEvents demands that the page loaded only itself, ran nothing, and broke none of its policy.
func (b *browser) checkEvents(name string, events []event) {
	b.t.Helper()
	requests := 0
	for _, e := range events {
		switch e.Method {
		case "Network.requestWillBeSent":
			requests++
		case "Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening":
			b.t.Errorf("%s: %s %s", name, e.Method, e.Params)
		}
	}
	if requests != 1 {
		b.t.Errorf("%s: %d requests", name, requests)
	}
}

// The pages in a real browser: on a screen, a phone, in the dark, on paper.
func TestOutsideBrowser(t *testing.T) {
	b := startBrowser(t, outside(t, "chromium"))
	dir := t.TempDir()
	pages := append(reporttest.Samples(), reporttest.Sample{Name: "script", Report: reporttest.Hostile(`"><script>document.title='run'</script><img src=x onerror="document.title='run'">`)})
	for _, s := range pages {
		file := filepath.Join(dir, s.Name+".html")
		writeFile(t, file, render(t, "html", s.Report, Options{Version: "v1.2.3"}))
		for _, view := range []struct {
			name          string
			width, height int
			phone         bool
			media, scheme string
		}{
			{"desktop", 1280, 900, false, "screen", "light"},
			{"desktop-dark", 1280, 900, false, "screen", "dark"},
			{"phone", 390, 844, true, "screen", "light"},
			{"phone-dark", 390, 844, true, "screen", "dark"},
			{"paper", 794, 1123, false, "print", "light"},
		} {
			name := s.Name + "-" + view.name
			b.size(view.width, view.height, view.phone)
			b.media(view.media, view.scheme)
			b.checkEvents(name, b.open("file://"+file))
			b.picture(name)

			var got struct {
				Title    string
				Wide     int
				Back     string
				Verdict  float64
				Findings int
				First    float64
			}
			b.eval(`({Title: document.title, Wide: document.documentElement.scrollWidth, Back: getComputedStyle(document.body).backgroundColor,
				Verdict: parseFloat(getComputedStyle(document.querySelector('.verdict')).borderLeftWidth), Findings: document.querySelectorAll('.finding').length,
				First: document.querySelector('.group')?.getBoundingClientRect().top ?? 0})`, &got)
			if !strings.HasPrefix(got.Title, "small-gate: ") {
				t.Errorf("%s: the title is %q", name, got.Title)
			}
			if got.Wide > view.width {
				t.Errorf("%s: the page is %d wide, the screen %d", name, got.Wide, view.width)
			}
			if want := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}[view.scheme]; got.Back != want {
				t.Errorf("%s: the background is %s, want %s", name, got.Back, want)
			}
			if view.media == "screen" && got.First > float64(view.height)*2/3 && s.Report.Failure == nil {
				t.Errorf("%s: the first finding begins %v pixels below the top", name, got.First)
			}
			if got.Verdict < 5 {
				t.Errorf("%s: the style does not apply: a border of %v", name, got.Verdict)
			}
			if want := len(s.Report.Findings) + len(s.Report.Waived); got.Findings != want {
				t.Errorf("%s: %d findings, want %d", name, got.Findings, want)
			}
		}
	}
	b.checkLog(filepath.Join(dir, "many.html"))
}

// brokenWords is a script that lists the words of the page that a line break divides, by JavaScript's ranges. Parts of paths and of digests
// are no words.
const brokenWords = `(() => {
	const broken = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
	while (texts.nextNode()) {
		for (const word of texts.currentNode.data.matchAll(/(?<![\w\/.:@-])[A-Za-z]{2,24}(?![\w\/.:@-])/g)) {
			range.setStart(texts.currentNode, word.index);
			range.setEnd(texts.currentNode, word.index + word[0].length);
			if (new Set(Array.from(range.getClientRects(), r => Math.round(r.top))).size > 1) broken.push(word[0]);
		}
	}
	return broken;
})()`

// checkLog demands that each entry has a row in a log's table, on a phone as on a desktop, that no word is broken there, and that rows lead to
// their findings and open them.
func (b *browser) checkLog(file string) {
	b.t.Helper()
	b.media("screen", "light")
	for _, width := range []int{390, 1280} {
		b.size(width, 800, width < 500)
		b.open("file://" + file)
		var got struct {
			Rows, Wide   int
			Landed       string
			Before, Seen bool
		}
		b.eval(`(async () => {
			const a = document.querySelector('.log tr.bad a'), finding = document.querySelector(a.getAttribute('href'));
			const out = {Rows: document.querySelectorAll('.log tbody tr').length, Wide: document.documentElement.scrollWidth, Before: finding.checkVisibility()};
			location.hash = a.getAttribute('href');
			await new Promise(requestAnimationFrame);
			out.Landed = document.querySelector(':target').className;
			out.Seen = finding.checkVisibility();
			return out;
		})()`, &got)
		if got.Rows != 36 || got.Wide > width {
			b.t.Errorf("%d rows, want 36; the page is %d wide on %d", got.Rows, got.Wide, width)
		}
		var broken []string
		if b.eval(brokenWords, &broken); len(broken) > 0 {
			b.t.Errorf("broken at a width of %d: %q", width, broken)
		}
		if got.Landed != "finding" || got.Before || !got.Seen {
			b.t.Errorf("a row of a folded finding leads to %+v", got)
		}
	}
}

//go:build !windows

package clients_test

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
)

// registry is as much of npm's registry as publishing and installing need. It takes each version once.
type registry struct {
	*httptest.Server
	mu       sync.Mutex
	packages map[string]map[string]any // what there is to say about a package
	tarballs map[string][]byte         // by path
	order    []string                  // in which the packages came
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{packages: map[string]map[string]any{}, tarballs: map[string][]byte{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// publication is what npm sends: the package with the one version, and its tarball.
type publication struct {
	Name        string
	Versions    map[string]map[string]any
	Tags        map[string]string                `json:"dist-tags"`
	Attachments map[string]struct{ Data []byte } `json:"_attachments"`
}

func (r *registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, err := url.PathUnescape(strings.TrimPrefix(request.URL.EscapedPath(), "/"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if request.Method == http.MethodPut {
		r.take(w, request, name)
		return
	}
	if tarball, ok := r.tarballs[name]; ok {
		answer(w, tarball)
		return
	}
	if known, ok := r.packages[name]; ok {
		text, err := json.Marshal(known)
		if err != nil {
			panic(err)
		}
		answer(w, text)
		return
	}
	http.Error(w, "{}", http.StatusNotFound)
}

func (r *registry) take(w http.ResponseWriter, request *http.Request, name string) {
	var sent publication
	if err := json.NewDecoder(request.Body).Decode(&sent); err != nil || len(sent.Versions) != 1 || len(sent.Attachments) != 1 || sent.Name != name {
		http.Error(w, "{}", http.StatusBadRequest)
		return
	}
	if _, ok := r.packages[name]; ok {
		http.Error(w, "{}", http.StatusForbidden)
		return
	}
	for _, about := range sent.Versions {
		for _, attachment := range sent.Attachments {
			place := path.Join(name, "-", "package.tgz")
			sum := sha512.Sum512(attachment.Data)
			about["dist"] = map[string]string{"tarball": r.URL + "/" + place, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
			r.tarballs[place] = attachment.Data
		}
	}
	r.packages[name] = map[string]any{"name": name, "versions": sent.Versions, "dist-tags": sent.Tags}
	r.order = append(r.order, name)
	w.WriteHeader(http.StatusCreated)
	answer(w, []byte("{}"))
}

// answer sends a body. If the client has gone away, nobody is left to tell.
func answer(w http.ResponseWriter, body []byte) {
	if _, err := w.Write(body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

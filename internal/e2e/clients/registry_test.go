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

// registry is the part of npm's registry that publishing and installing need. It accepts each version once.
type registry struct {
	*httptest.Server
	mu       sync.Mutex
	packages map[string]map[string]any // the metadata of each package
	tarballs map[string][]byte         // by path
	order    []string                  // the order in which packages arrived
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{packages: map[string]map[string]any{}, tarballs: map[string][]byte{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// publication is the body that npm sends: the package with one version, and its tarball.
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

// answer sends a body. If the client has gone away, nobody can be told.
func answer(w http.ResponseWriter, body []byte) {
	if _, err := w.Write(body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

package ci

import (
	"net/url"
	"strings"
)

// ForeignOrigin returns the full name of the remote origin's repository if its branches do not count, as in a checkout of a fork: its owner
// could choose what a pull request is compared with. Otherwise the result is empty.
func (p *Plan) ForeignOrigin(address string) string {
	name, onHost := repositoryOf(address)
	switch {
	case onHost && p.Fork != "" && strings.Contains(strings.ToLower("/"+name+"/"), strings.ToLower("/"+p.Fork+"/")):
		return name
	case p.Repository == "":
		return ""
	case p.Project != "" && !strings.EqualFold(p.Project, p.Repository):
		return p.Project
	case !onHost, endsWithName(name, p.Repository):
		return ""
	}
	return name
}

// IsRepository reports whether the address of a clone's remote origin is surely that of Repository. Of some addresses neither this nor ForeignOrigin
// can tell.
func (p *Plan) IsRepository(address string) bool {
	name, onHost := repositoryOf(address)
	return onHost && p.Repository != "" && endsWithName(name, p.Repository)
}

// repositoryOf returns the path of a remote's address without .git (git-fetch(1), GIT URLS). onHost is false if the address is a directory, which
// has no repository name.
func repositoryOf(address string) (path string, onHost bool) {
	scheme, _, isURL := strings.Cut(address, "://")
	switch {
	case isURL && strings.EqualFold(scheme, "file"):
		return "", false
	case isURL:
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			return "", false
		}
		path = u.Path
	default:
		server, rest, ok := strings.Cut(address, ":")
		if !ok || len(server) < 2 || strings.ContainsAny(server, `/\`) {
			return "", false // a directory, on Windows with a drive
		}
		path = rest
	}
	return strings.TrimSuffix(strings.Trim(path, "/"), ".git"), true
}

// webAddress returns the address unchanged if a report may link to it, and nothing otherwise, for example if a variable was missing in it.
func webAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Contains(u.Path, "//") {
		return ""
	}
	return u.String()
}

// endsWithName reports whether a path ends in the full name of a repository.
func endsWithName(path, fullName string) bool {
	path, fullName = strings.ToLower("/"+path), strings.ToLower("/"+strings.Trim(fullName, "/"))
	return strings.HasSuffix(path, fullName)
}

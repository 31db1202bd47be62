package ci

import (
	"net/url"
	"strings"
)

// ForeignOrigin is the repository of a clone's remote origin, if its branches do not count: a checkout of a fork has the fork's, which
// would let the author of a pull request choose what it is compared with. Otherwise it is empty.
func (p *Plan) ForeignOrigin(address string) string {
	name, host := repositoryOf(address)
	switch {
	case host && p.Fork != "" && strings.Contains(strings.ToLower("/"+name+"/"), strings.ToLower("/"+p.Fork+"/")):
		return name
	case p.Repository == "":
		return ""
	case p.Project != "" && !strings.EqualFold(p.Project, p.Repository):
		return p.Project
	case !host, endsIn(name, p.Repository):
		return ""
	}
	return name
}

// OwnOrigin reports whether the address of a clone's remote origin is that of the repository whose branches count.
func (p *Plan) OwnOrigin(address string) bool {
	name, host := repositoryOf(address)
	return host && p.Repository != "" && endsIn(name, p.Repository)
}

// repositoryOf is the path of an address that names a host (git-fetch(1), GIT URLS), without .git. host is false for a directory, which has
// no repository name.
func repositoryOf(address string) (path string, host bool) {
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

// webAddress is an address to which a report may link, unchanged; empty for anything else, for example if a variable is missing.
func webAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Contains(u.Path, "//") {
		return ""
	}
	return u.String()
}

// endsIn reports whether a path ends in the full name of a repository.
func endsIn(path, fullName string) bool {
	path, fullName = strings.ToLower("/"+path), strings.ToLower("/"+strings.Trim(fullName, "/"))
	return strings.HasSuffix(path, fullName)
}
